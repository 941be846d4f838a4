package oracle

import (
	"io"
	"slices"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/decide"
	"muster/regress/host"
	"muster/regress/internal/outcome"
)

// settleRecord takes over what a record left as the truth.
func (r *round) settleRecord(c *chain) {
	r.golden = map[string]*truth{}
	var err error
	r.was, err = r.texts()
	r.must(err)
	for _, name := range r.cases {
		g := &truth{samples: c.runs[name], noise: c.noise(name)}
		runs := len(g.samples)
		most := r.o.Judge.Repeat
		if varies(g.samples) {
			most = max(most, 1+outcome.VariantsMax) // for what two runs do not show
		}
		r.assert(runsAreMade, runs >= r.o.Judge.Repeat && (c.attempts > 1 || runs <= most), "%s has %d runs", name, runs)
		switch {
		case c.change == nil:
		case c.change.unseen:
			g.vague = true
		default:
			r.assert(c.change.resumed(), r.asFresh(name, g.samples), "record went on; %s holds %v", name, g.samples)
		}
		g.vague = g.vague || c.uncertain(name) && varies(g.samples)
		r.golden[name] = g
		if g.vague {
			continue
		}
		said, judged := c.last.verdicts[name]
		r.assert(eachCaseOnce, judged && (said == regress.Flaky) == varies(g.samples), "record says %v of %s: %v", said, name, g.samples)
	}
}

// runAgainLeast is the least number of finished cases that a resume runs again.
const runAgainLeast = 3

// resumed is the property that a resume breaks which mixes the tools before and after c.
func (c *change) resumed() property {
	if c.unseen {
		return resumeRunsAgain
	}
	return resumedIsFresh
}

// asFresh reports whether the runs of a case are those of the tool that is installed now.
func (r *round) asFresh(name string, runs []face) bool {
	f, known := r.world.tool.conduct(name).only()
	return !known || !slices.ContainsFunc(runs, func(run face) bool { return run != f.compared(r.how) })
}

// settleCheck asserts what holds for a check that came to its end, of these cases.
func (r *round) settleCheck(c *chain, names []string) {
	a := c.last
	identical, flaky := 0, 0
	for _, name := range names {
		v, judged := a.verdicts[name]
		r.assert(eachCaseOnce, judged, "%s has no verdict", name)
		if v == regress.Identical {
			identical++
		}
		if v == regress.Flaky {
			flaky++
		}
		r.tally.judged++
		r.tally.verdicts[v]++
		r.judge(c, a, name, v)
	}
	r.assert(eachCaseOnce, len(a.verdicts) == len(names) && len(a.twice) == 0, "verdicts %v, twice %v, cases %v", a.verdicts, a.twice, names)
	sum := a.last
	r.assert(eachCaseOnce, sum.Cases == len(names) && sum.Identical == identical && sum.Flaky == flaky, "summary %+v", sum)
	clean := identical == len(names) && !(r.o.Judge.Strict && sum.masked() > 0)
	r.assert(statusFollows, (a.sum.ExitStatus == 0) == clean, "exit status %d", a.sum.ExitStatus)
	r.assertMasked(c, names)
}

// namesChanges asserts that a check names the files of the tool that were others at record.
func (r *round) namesChanges(a *attempt) {
	if r.was == nil {
		return
	}
	texts, err := r.texts()
	r.must(err)
	var changed []string
	for path, text := range texts {
		if was, known := r.was[path]; !known || was != text {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	named := slices.Sorted(slices.Values(a.last.ToolChanged))
	r.assert(changesAreNamed, slices.Equal(changed, named), "%q, not %q", named, changed)
}

// judge compares a verdict with the truth.
func (r *round) judge(c *chain, a *attempt, name string, v regress.Verdict) {
	g, present := r.golden[name], slices.Contains(r.cases, name)
	switch {
	case !present:
		r.assert(eachCaseOnce, v == regress.Missing, "%s is missing, not %v", name, v)
		return
	case a.broken[name] || v == regress.EnvironmentFailed:
		r.assert(environmentIsSaid, a.broken[name] && v == regress.EnvironmentFailed, "%s is %v", name, v)
		return
	case g == nil:
		r.assert(eachCaseOnce, v == regress.New, "%s is new, not %v", name, v)
		return
	}
	runs := runsOf{c.runs[name], c.attempts == 1}
	if c.change != nil {
		f, known := r.world.tool.conduct(name).only()
		if c.change.unseen && (v != regress.Identical || c.begun > runAgainLeast) {
			known = false // it was not to be run again
		}
		if !known {
			g.vague = true
			return
		}
		if found := compareWithTruth(g, runsOf{[]face{f.compared(r.how)}, true}, v); found != nil {
			r.assert(c.change.resumed(), false, "check went on; %s: %s", name, found.why)
		}
		return
	}
	if found := compareWithTruth(g, runs, v); found != nil {
		r.assert(found.property, false, "%s: %s", name, found.why)
	}
	r.countRuns(c, a, name, v)
	if v != regress.Identical && v != regress.Flaky && runs.exact && g.variesBeyond(runs.faces) {
		r.assert(unstableIsMarked, a.unstable[name], "%s is %v after %v", name, v, runs.faces)
	}
}

// countRuns asserts that a case ran as often as its verdict takes.
func (r *round) countRuns(c *chain, a *attempt, name string, v regress.Verdict) {
	runs, ifAlike, ifNot := len(c.runs[name]), max(1, r.o.Judge.Runs), 1+r.o.Judge.Retries
	first := maybe
	if runs > 0 {
		first, _ = r.golden[name].compare(c.runs[name][0])
	}
	want := ifNot
	if first == yes || first == maybe && v == regress.Identical {
		want = ifAlike
	}
	// A check that is cut reports as flaky what further runs cannot change. The sample of a resume
	// runs a finished case again.
	open := first == maybe && (v == regress.Identical || runs == ifAlike || runs > ifAlike && c.attempts > 1) || a.cut && v == regress.Flaky && runs >= 2
	r.assert(runsAreMade, c.attempts > 1 && (runs >= want || c.lossy) || runs == want || open, "%s is %v after %d runs, not %d", name, v, runs, want)
}

// assertMasked asserts that the summary counts the cases that were not compared in full.
func (r *round) assertMasked(c *chain, names []string) {
	least, perhaps := 0, 0
	for _, name := range names {
		g := r.golden[name]
		switch {
		case g == nil:
		case g.vague || g.older != nil || varies(c.runs[name]):
			perhaps++
		case r.how.ignores && max(g.noise, c.noise(name)) == yes && c.last.verdicts[name] == regress.Identical:
			least++
		case g.masks() && c.last.verdicts[name] == regress.Identical:
			least++
		case g.masks(), r.how.ignores && max(g.noise, c.noise(name)) != no:
			perhaps++
		}
	}
	counted := c.last.last.masked()
	r.assert(maskedIsCounted, least <= counted && counted <= least+perhaps, "%d cases, not %d to %d", counted, least, least+perhaps)
}

// silent returns a host that shows nothing.
func silent() host.Host { return host.Host{Stdout: io.Discard, Stderr: io.Discard} }

// acceptSome may accept what a check found, and takes it over as the truth.
func (r *round) acceptSome(c *chain, state string) {
	how := rapid.IntRange(0, 4).Draw(r.T, "accept")
	if how == 0 {
		return
	}
	a := decide.AcceptOptions{All: true, Failing: how > 1, Missing: true}
	if how == 4 {
		a = decide.AcceptOptions{Names: r.drawDiffering(c.last)}
	}
	if !a.All && len(a.Names) == 0 {
		return
	}
	o := r.o
	o.Store.State = state
	n, err := decide.Accept(r.Context(), o, silent(), a)
	r.Logf("accept %+v: %d, %v", a, n, err)
	r.must(err)
	for name, v := range c.last.verdicts {
		if v == regress.Identical || v == regress.EnvironmentFailed || !a.All && !slices.Contains(a.Names, name) {
			continue
		}
		r.tally.accepted++
		r.was = nil
		r.take(c, a, name, v)
	}
}

func (r *round) drawDiffering(a *attempt) (names []string) {
	for _, name := range r.all {
		v, judged := a.verdicts[name]
		if judged && v != regress.Identical && v != regress.EnvironmentFailed && rapid.Bool().Draw(r.T, "accept "+name) {
			names = append(names, name)
		}
	}
	return names
}

// take makes an accepted case the truth. What accept leaves out without --failing is not
// modelled: whether it did is seen by the next check.
func (r *round) take(c *chain, a decide.AcceptOptions, name string, v regress.Verdict) {
	old, runs := r.golden[name], c.runs[name]
	if v == regress.Missing {
		delete(r.golden, name)
		return
	}
	taken := &truth{samples: runs, noise: c.noise(name), older: old}
	if c.uncertain(name) && varies(runs) || c.change != nil || len(runs) == 0 {
		taken.vague = true
	}
	if a.All && !a.Failing {
		stopped := slices.ContainsFunc(runs, func(f face) bool { return f.ending.Kind != regress.Exited })
		switch {
		case v <= regress.NewlyFailing:
			return
		case stopped && old != nil:
			taken.vague = true
		case stopped && slices.ContainsFunc(runs, func(f face) bool { return f.ending.Kind == regress.Exited }):
			taken.vague, taken.perhaps = true, true
		case stopped:
			return
		}
	}
	r.golden[name] = taken
}
