package oracle

import (
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// truth is what a golden must hold of one case: the runs that it rests on. Faces in it are
// rewritten where the round has a rule.
type truth struct {
	samples []face
	noise   answer // whether they left the part that the round may ignore
	older   *truth // replaced by an accept, which keeps what was marked as flaky and still occurs
	vague   bool   // runs were lost: nothing is known
	perhaps bool   // not even whether the golden has the case
}

// doubtful reports whether the golden may lack the case.
func (g *truth) doubtful() bool { return g != nil && g.perhaps }

// answer says whether a run equals a golden as a whole. Maybe is an answer where either is
// right.
type answer int

const (
	no answer = iota
	maybe
	yes
)

// reason says why a run does not equal a golden.
type reason string

const (
	otherEnding reason = "an ending that the golden never had"
	otherPart   reason = "a part that differs"
	outsideSet  reason = "an ending outside the set of a flaky one"
	otherShape  reason = "a flaky part in a shape that it never had"
	besideHoles reason = "a place of a flaky part that never varied"
)

// base is the run whose contents the golden compares with: the first that no limit ended.
func (g *truth) base() face {
	i := slices.IndexFunc(g.samples, func(f face) bool { return !f.ending.Partial() })
	return g.samples[max(i, 0)]
}

func (g *truth) endings() (list []regress.Ending) {
	for _, f := range g.samples {
		list = append(list, f.ending)
	}
	return list
}

// values are what complete runs left of a part.
func (g *truth) values(part int) (list []modelPart) {
	for _, f := range g.samples {
		if !f.ending.Partial() {
			list = append(list, f.parts[part])
		}
	}
	return list
}

func varies[T face | modelPart | regress.Ending](list []T) bool {
	return slices.ContainsFunc(list, func(v T) bool { return v != list[0] })
}

// masks reports whether something of the golden is not compared: a part that varies, or all
// of a case that a limit ended.
func (g *truth) masks() bool {
	if g.base().ending.Partial() {
		return true
	}
	for i := range modelParts {
		if varies(g.values(i)) {
			return true
		}
	}
	return varies(g.endings())
}

// variesBeyond reports whether runs differ from each other where those of the golden do not,
// nor did those of a golden that it replaced.
func (g *truth) variesBeyond(runs []face) bool {
	now := &truth{samples: runs}
	if varies(now.endings()) && !g.endingVaries() {
		return true
	}
	for i := range modelParts {
		known := varies(g.values(i)) || g.inherits(func(o *truth) bool { return varies(o.values(i)) })
		if varies(now.values(i)) && !known {
			return true
		}
	}
	return false
}

// compare says whether a run equals the golden as a whole, and the reasons why not.
func (g *truth) compare(run face) (answer, []reason) {
	if g.vague {
		return maybe, nil
	}
	if g.base().ending.Partial() || run.ending.Partial() {
		return g.comparePartial(run)
	}
	a := yes
	var why []reason
	note := func(part answer, r reason) {
		if a = min(a, part); part == no {
			why = append(why, r)
		}
	}
	note(g.compareEnding(run.ending))
	for i := range modelParts {
		note(g.comparePart(i, run.parts[i]))
	}
	return a, why
}

// comparePartial compares where a limit ended a side. Whether a limit that ended some of the
// recorded runs equals those is left open.
func (g *truth) comparePartial(run face) (answer, []reason) {
	switch was := g.base().ending; {
	case was.Partial() && slices.Contains(g.endings(), run.ending):
		return yes, nil
	case !was.Partial() && g.mayAllow(run.ending):
		return maybe, nil
	case run.ending.Partial() && g.endingVaries():
		return no, []reason{outsideSet}
	}
	return no, []reason{otherEnding}
}

// endingVaries reports whether the golden may have marked the ending as flaky.
func (g *truth) endingVaries() bool {
	return varies(g.endings()) || g.endsAsBefore() && (g.older.unknown() || g.older.endingVaries())
}

// mayAllow reports whether a run of the golden may have ended so.
func (g *truth) mayAllow(e regress.Ending) bool {
	return slices.Contains(g.endings(), e) || g.endsAsBefore() && (g.older.unknown() || g.older.mayAllow(e))
}

// endsAsBefore reports whether an accept may have kept the endings of the golden that this
// one replaced: both ended by themselves, and in one way that is the same.
func (g *truth) endsAsBefore() bool {
	if g.older == nil || g.base().ending.Partial() || !g.older.unknown() && g.older.base().ending.Partial() {
		return false
	}
	return g.older.unknown() || slices.ContainsFunc(g.endings(), func(e regress.Ending) bool { return !e.Partial() && g.older.mayAllow(e) })
}

func (g *truth) compareEnding(e regress.Ending) (answer, reason) {
	switch {
	case slices.Contains(g.endings(), e):
		return yes, ""
	case g.mayAllow(e):
		return maybe, ""
	case g.endingVaries():
		return no, outsideSet
	}
	return no, otherEnding
}

// comparePart compares one part. A flaky part may hold what its holes allow, in a shape that it had.
func (g *truth) comparePart(i int, now modelPart) (answer, reason) {
	seen := g.values(i)
	inherited := g.inherits(func(o *truth) bool { return varies(o.values(i)) })
	switch {
	case slices.Contains(seen, now):
		return yes, ""
	case !varies(seen) && !inherited:
		return no, otherPart
	case varies(seen) && slices.ContainsFunc(seen, now.shapedAs):
		a := fitsHoles(seen, now)
		if a == no && inherited {
			a = maybe // an accept of one single run keeps the texts that it replaces
		}
		return a, besideHoles
	case inherited && g.mayShape(i, now):
		return maybe, "" // an accept keeps the marks of complete runs alone
	}
	return no, otherShape
}

// fitsHoles says whether a part fits the texts that a flaky part had.
func fitsHoles(seen []modelPart, now modelPart) answer {
	var texts []string
	frames := map[string]bool{}
	lines := 0 // of the longest text
	for _, c := range seen {
		if c.present && c.form == outcome.Regular && c.text != "" && !slices.Contains(texts, c.text) {
			texts = append(texts, c.text)
			frames[frame(c.text)] = true
			lines = max(lines, strings.Count(c.text, "\n"))
		}
	}
	switch {
	case !now.present || now.form != outcome.Regular || now.text == "" || slices.Contains(texts, now.text):
		return yes
	case len(texts) == 1:
		return no // it was empty or absent else
	case lines == 1:
		return yes // masked as a whole
	case len(frames) > 1:
		return maybe
	case frames[frame(now.text)]:
		return yes
	}
	return no
}

// mayShape reports whether the golden may have a flaky part in the shape of now: in a run of
// its own, or of the golden that it replaced if both had the part in one shape.
func (g *truth) mayShape(i int, now modelPart) bool {
	seen := g.values(i)
	if slices.ContainsFunc(seen, now.shapedAs) {
		return true
	}
	if g.older == nil {
		return false
	}
	if g.older.unknown() {
		return true
	}
	return slices.ContainsFunc(seen, func(c modelPart) bool { return g.older.mayShape(i, c) }) && g.older.mayShape(i, now)
}

// shapedAs reports whether two parts have one shape.
func (c modelPart) shapedAs(other modelPart) bool {
	if !c.present || c.form == outcome.Symlink {
		return c.present == other.present && c.form == other.form
	}
	return other.present && c.form == other.form && c.exec == other.exec && (c.text == "") == (other.text == "")
}

// inherits reports whether a golden that this one replaced had something.
func (g *truth) inherits(had func(*truth) bool) bool {
	return g.older != nil && (g.older.unknown() || had(g.older) || g.older.inherits(had))
}

func (g *truth) unknown() bool { return g.vague }

// classes are the verdicts that a run may get that does not equal the golden.
func (g *truth) classes(run face) (list []regress.Verdict) {
	endings := g.endings()
	switch {
	case run.ending.Partial() && !g.base().ending.Partial():
		endings = []regress.Ending{g.base().ending}
	case slices.Contains(endings, run.ending):
		endings = []regress.Ending{run.ending}
	}
	for _, was := range endings {
		list = append(list, classOf(was, run.ending))
	}
	for o := g.older; o != nil; o = o.older {
		for _, was := range o.endings() {
			list = append(list, classOf(was, run.ending))
		}
	}
	return list
}

func classOf(was, now regress.Ending) regress.Verdict {
	switch {
	case was == now:
		return regress.Changed
	case now.Kind == regress.TimedOut:
		return regress.NewlyTimedOut
	case now.Kind == regress.OutOfMemory:
		return regress.NewlyOutOfMemory
	case now.Kind == regress.OutputLimit:
		return regress.NewlyOutputLimited
	case now.Kind == regress.Signalled:
		return regress.Crashed
	case was.Success():
		return regress.NewlyFailing
	case now.Success():
		return regress.NewlyPassing
	}
	return regress.Changed
}
