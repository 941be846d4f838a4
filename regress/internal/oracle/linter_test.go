package oracle

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/decide"
	"muster/regress/internal/cause"
	"muster/regress/record"
)

// A level is what a profile makes of a finding.
type level string

// A linter fails if a finding is an error.
const errorLevel level = "error"

var levels = []level{"", "note", "warning", errorLevel} // "" = not reported

// findings are the kinds of findings that a source may have.
var findings = [...]string{"unused", "shadowed", "unreachable"}

// A linter is a modelled tool with a profile.
type linter struct {
	profile [len(findings)]level
	counts  bool // it ends with a line, whatever it finds
}

func drawLinter(t *rapid.T, counts bool) (l linter) {
	for i := range l.profile {
		l.profile[i] = rapid.SampledFrom(levels).Draw(t, findings[i])
	}
	l.counts = counts
	return l
}

// face returns what the linter reports of a source.
func (l linter) face(source []int) (f face) {
	var b strings.Builder
	for i, kind := range source {
		if l.profile[kind] != "" {
			fmt.Fprintf(&b, "source:%d: %s: %s name\n", i+1, l.profile[kind], findings[kind])
		}
		if l.profile[kind] == errorLevel {
			f.ending.Code = 1
		}
	}
	if l.counts {
		fmt.Fprintf(&b, "this linter read %d lines, which is all that the source has\n", len(source))
	}
	f.parts[0], f.parts[1] = modelPart{present: true, text: b.String()}, modelPart{present: true}
	return f
}

func (l linter) model(name string, sources map[string][]int) *model {
	m := &model{name, map[string]conduct{}}
	for c, source := range sources {
		m.cases[c] = conduct{[]face{l.face(source)}, []int{0}}
	}
	return m
}

// changes counts the kinds of findings of a source that two profiles treat differently.
func (l linter) changes(to linter, source []int) (n int) {
	for kind := range findings {
		if slices.Contains(source, kind) && l.profile[kind] != to.profile[kind] {
			n++
		}
	}
	return n
}

// runLinters plays a round in which the profile of a linter changes. A case that ends otherwise has a cause for that, and
// others for what else changed. An accept of the former alone takes no case that has others.
func (r *round) runLinters() {
	sources := map[string][]int{}
	for _, c := range r.all {
		sources[c] = rapid.SliceOfN(rapid.IntRange(0, len(findings)-1), 1, 5).Draw(r.T, "findings of "+c)
	}
	counts := rapid.Bool().Draw(r.T, "counts")
	was, is := drawLinter(r.T, counts), drawLinter(r.T, counts)
	r.how, r.o.Judge.Normalize, r.o.Judge.Ignore, r.o.Judge.Strict = comparing{}, nil, nil, false
	r.world.tool = was.model("linter", sources)
	r.use(r.world.tool)
	r.must(r.attempt(record.Run, r.o, undisturbed).err)
	r.install(is.model("other profile", sources))
	c := r.attempt(check.Run, r.o, undisturbed)
	r.must(c.err)
	flips, alone := map[string]bool{}, map[string]bool{}
	for name, v := range c.verdicts {
		old, now := was.face(sources[name]), is.face(sources[name])
		isFlip, others := old.ending != now.ending, was.changes(is, sources[name])
		if isFlip && (old.parts[0].text == "" || now.parts[0].text == "") && others == 1 {
			others = 0 // the flip names it
		}
		found := map[bool]int{} // for causes that are flips, and others
		for _, id := range c.causes[name] {
			kind := c.kinds[id]
			isEnding := kind == cause.Failing || kind == cause.Passing
			found[isEnding]++
			flips[id] = flips[id] || isEnding
		}
		r.assert(flipIsACause, (found[true] == 1) == isFlip, "%s: %v → %v has %v", name, old, now, c.causes[name])
		r.assert(restHasCauses, (found[false] > 0) == (others > 0), "%s: %v → %v has %v", name, old, now, c.causes[name])
		alone[name] = v == regress.Identical || others == 0
	}
	r.tally.rounds++
	r.acceptFlips(flips, alone)
}

// acceptFlips accepts causes, and asserts that only the cases in alone are identical then.
func (r *round) acceptFlips(flips, alone map[string]bool) {
	var a decide.AcceptOptions
	for id, is := range flips {
		if is {
			a.Names = append(a.Names, id)
		}
	}
	if len(a.Names) == 0 {
		return
	}
	_, err := decide.Accept(r.Context(), r.o, silent(), a)
	r.must(err)
	again := r.attempt(check.Run, r.o, undisturbed)
	r.must(again.err)
	for name, is := range alone {
		r.assert(flipIsAlone, (again.verdicts[name] == regress.Identical) == is, "%s is %v", name, again.verdicts[name])
	}
}
