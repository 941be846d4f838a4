package oracle

import (
	"context"
	"os"
	"slices"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/record"
)

// round is one scenario: a record, checks and accepts, with whatever disturbs them.
type round struct {
	*rapid.T
	*modelPlace
	world   *world // the truth of what ran
	tally   *tally
	all     []string // cases, in the corpus or not
	cases   []string // in the corpus
	golden  map[string]*truth
	was     map[string]string // texts of the command's files when it was recorded, by path; nil after an accept
	o       regress.Options
	how     comparing
	turning *change // planned for the present attempt
}

// tally counts what rounds came to.
type tally struct {
	rounds, attempts, judged, resumed, refused, accepted int
	verdicts                                             [regress.Identical + 1]int
}

// casesMax is how many cases a round has at most.
const casesMax = 8

func newRound(t *rapid.T, p *modelPlace, sums *tally) *round {
	r := &round{T: t, modelPlace: p, tally: sums, golden: map[string]*truth{}}
	for i := range rapid.IntRange(1, casesMax).Draw(t, "cases") {
		r.all = append(r.all, string(rune('k'+i)))
	}
	r.cases = slices.Clone(r.all)
	r.must(p.clear(r.cases))
	r.how.rule = rapid.IntRange(0, 3).Draw(t, "rule") == 3
	r.how.ignores = rapid.IntRange(0, 3).Draw(t, "ignores") == 3
	shell := rapid.IntRange(0, 3).Draw(t, "shell") == 3
	r.o = regress.Options{
		Corpus:  regress.Corpus{Path: p.path("src")},
		Command: regress.Command{Words: p.words(shell), Shell: shell, PassEnv: []string{passed}, ToolFiles: []string{p.path(keptFile), p.path(mappedFile)}, Observe: regress.ObserveNone}, // the tool counts its runs
		Limits:  regress.Limits{Jobs: rapid.SampledFrom([]int{1, 0, 2, 3}).Draw(t, "jobs")},
		Judge:   regress.CompareOptions{AllowFailures: true, Repeat: rapid.SampledFrom([]int{2, 1, 3}).Draw(t, "repeat"), Retries: rapid.SampledFrom([]int{2, 1, 0, 3}).Draw(t, "retries")},
		Store:   regress.Store{Golden: p.path("g"), State: p.path("state")},
	}
	r.o.Judge.Runs = rapid.SampledFrom([]int{1, 1, 0, 2, 3}).Draw(t, "runs")
	r.o.Judge.Strict = rapid.IntRange(0, 3).Draw(t, "strict") == 3
	if r.how.rule {
		r.o.Judge.Normalize = []string{digitsRule}
	}
	if r.how.ignores {
		r.o.Judge.Ignore = []string{ignoredGlob}
	}
	r.world = &world{turns: map[turn]int{}, tool: drawTool(t, "recorded", r.all)}
	return r
}

func (r *round) must(err error) {
	if err != nil {
		r.Fatal(err)
	}
}

// assert fails the round unless a property holds.
func (r *round) assert(p property, holds bool, format string, args ...any) {
	if !holds {
		r.Fatalf("property %q is broken: "+format, append([]any{p}, args...)...)
	}
}

// run plays the round.
func (r *round) run() {
	r.recordTool()
	for range rapid.IntRange(1, 3).Draw(r.T, "checks") {
		if rapid.IntRange(0, 2).Draw(r.T, "another tool") > 0 {
			r.install(r.drawCandidate("candidate"))
		}
		if rapid.IntRange(0, 5).Draw(r.T, "shards") == 5 {
			r.shards()
		}
		c := r.checkTool()
		r.acceptSome(c, r.o.Store.State)
	}
	r.tally.rounds++
}

func (r *round) drawCandidate(name string) *model {
	return drawCandidate(r.T, name, r.world.tool, r.all)
}

// install makes a tool the one that runs.
func (r *round) install(t *model) {
	r.must(r.write("bin/tool"))
	r.use(t)
}

func (r *round) use(t *model) {
	r.world.tool = t
	for _, name := range r.all {
		r.Logf("  %s treats %s:%v", t.name, name, t.conduct(name))
	}
}

// recordTool records the tool that is installed.
func (r *round) recordTool() {
	r.Logf("record with %d jobs, %d runs, compared %+v, %q", r.o.Limits.Jobs, r.o.Judge.Repeat, r.how, r.o.Command.Words)
	r.use(r.world.tool)
	if rapid.IntRange(0, 7).Draw(r.T, "record in parts") == 7 && r.recordShards() {
		return
	}
	c := r.perform(record.Run, r.o)
	r.settleRecord(c)
}

// checkTool checks the tool that is installed and judges what is reported.
func (r *round) checkTool() *chain {
	r.drawCorpus()
	r.Logf("check with %d retries, %d runs, strict %t", r.o.Judge.Retries, r.o.Judge.Runs, r.o.Judge.Strict)
	c := r.perform(check.Run, r.o)
	r.settleCheck(c, r.names())
	r.namesChanges(c.last)
	return c
}

// names lists the cases of the corpus and of the golden.
func (r *round) names() (list []string) {
	for _, name := range r.all {
		if r.golden[name] != nil || slices.Contains(r.cases, name) {
			list = append(list, name)
		}
	}
	return list
}

// random reports whether the installed tool treats a case in several ways: a resume that runs
// such a case again may take it for a change.
func (r *round) random() bool {
	return slices.ContainsFunc(r.cases, func(name string) bool {
		_, known := r.world.tool.conduct(name).only()
		return !known
	})
}

// drawCorpus may take a case out of the corpus, but never the first, or put one into it.
func (r *round) drawCorpus() {
	if rapid.IntRange(0, 4).Draw(r.T, "corpus") < 4 {
		return
	}
	if at := rapid.IntRange(0, len(r.cases)-1).Draw(r.T, "case to take out"); at > 0 && !r.golden[r.cases[at]].doubtful() {
		r.Logf("  %s leaves the corpus", r.cases[at])
		r.must(os.Remove(r.path("src/" + r.cases[at])))
		r.cases = slices.Delete(r.cases, at, at+1)
		return
	}
	name := string(rune('k' + len(r.all)))
	r.Logf("  %s is new in the corpus", name)
	r.must(r.write("src/" + name))
	r.all, r.cases = append(r.all, name), append(r.cases, name)
}

// perform calls a command until it comes to an end: disturbed, resumed, and begun again where
// it refuses to resume.
func (r *round) perform(do func(context.Context, regress.Options, host.Host) (regress.Summary, error), o regress.Options) *chain {
	c := newChain()
	// Where there is nothing to resume, a resume is a run from the beginning.
	o.Store.Resume = rapid.IntRange(0, 3).Draw(r.T, "resume at once") == 3
	refusedOnce, forgotten := false, false // a run was left behind; the last one was forgotten, so a resume finds that
	for calm := 0; ; calm++ {
		a := r.attempt(do, o, r.drawPlan(calm))
		for _, f := range a.faults {
			r.assert(runsAreMade, false, "%s", f)
		}
		goesOn := o.Store.Resume && !a.refused()
		r.assert(resumedIsFresh, !goesOn || !c.touched, "a file was replaced by its like, which may have been another meanwhile")
		r.assert(resumeRunsAgain, !(goesOn && c.betrayed && a.wentOn()), "finished cases had another outcome, and it went on")
		c.betrayed = false
		if a.turned {
			r.assert(changeIsForgotten, a.err != nil && len(a.verdicts) == 0, "%v while it ran, and it ended with %v and verdicts %v", r.turning, a.err, a.verdicts)
			c = newChain()
		}
		switch {
		case o.Store.Resume && a.refused():
			r.tally.refused++
			r.assert(changeIsSeen, c.change == nil || c.change.unseen || len(a.log) == 0, "%v, and cases ran: %v", c.change, a.err)
			r.assert(resumeGoesOn, c.change != nil || c.touched || a.turned || refusedOnce && forgotten || r.random(), "%v", a.err)
			c, o.Store.Resume, refusedOnce = newChain(), false, true
		case a.turned:
			c, o.Store.Resume, forgotten = newChain(), true, true // nothing of the tool before is left
		case a.interrupted(), a.failedByMachine():
			forgotten = false
			c.add(a, r.how)
			c.lossy = c.lossy || a.cut && o.Limits.Jobs > 1
			r.interrupted(c, a)
			r.drawChange(c, &o, a.sum.Command)
			o.Store.Resume = true
			r.tally.resumed++
		case a.err == nil, regress.ClassOf(a.err) == regress.Empty:
			c.add(a, r.how)
			c.last = a
			return c
		default:
			r.Fatalf("unexpected: %v", a.err)
		}
	}
}
