package regress

import (
	"maps"
	"slices"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
)

// verdicts collects the results of runs, and gives each case its verdict. One goroutine at a time
// calls its methods.
type verdicts struct {
	judge    *judge
	numbers  runNumbers
	due      pass.Durations // expected durations of the first runs
	failFast int            // of --fail-fast; 0 = none
	mayBeNew bool           // --allow has new

	journal  *journal
	costs    *turns.Measurement
	failures *failureCounter
	ledger   *run.Ledger
	events   *run.Events

	undecided map[int]undecidedCase // by index
	waiting   waitingRoom           // undecided cases that may run again during the first pass
	order     pass.InOrder          // in which the verdicts of undecided cases are reported
	differing int                   // undecided cases that --fail-fast counts
	final     map[int]bool          // cases that have their verdict, by index
	unstable  int                   // cases whose runs differ from the baseline and from each other
}

// takeFirst takes the result of a first run.
func (v *verdicts) takeFirst(t pass.Task, r firstResult) error {
	if r.err != nil {
		if err := v.takeError(t, r.err); err != nil {
			return err
		}
		return v.enough()
	}
	v.events.Emit(report.CaseRan{
		Name: t.Entry.Name, Pass: 1, Differs: !r.identical,
		CPU: r.cost.CPU, Wall: r.cost.Wall, Expected: v.due.Of(t.Index), Engine: r.onEngine, At: time.Now(),
	})
	v.ledger.Summary.CPU += r.cost.CPU
	if r.beside != nil {
		if err := v.costs.AddFirst(t, r.beside); err != nil {
			return err
		}
	}
	if err := v.journal.addLine(r.line(t.Entry.Name)); err != nil {
		return err
	}
	if err := v.failures.add(t.Entry.Name, r); err != nil {
		return err
	}
	if r.identical {
		v.addIdentical(t, r)
		return nil
	}
	v.addUndecided(undecidedCase{task: t, lane: r.lane, runs: 1, onEngine: r.onEngine})
	return v.enough()
}

// line returns the journal's line of a first run.
func (r *firstResult) line(caseName string) state.Line {
	return state.Line{
		Name: []byte(caseName), Identical: r.identical, Kind: r.ending.Kind, Code: r.ending.Code,
		CPU: int64(r.cost.CPU), Wall: int64(r.cost.Wall), Peak: r.cost.PeakRSS, Engine: r.onEngine,
		Ignored: name.PrintAll(r.left.Ignored),
	}
}

// enough returns pass.ErrStop if --fail-fast ends the first pass.
func (v *verdicts) enough() error {
	if v.failFast > 0 && v.differing+v.ledger.Summary.Verdicts[outcome.Environment] >= v.failFast {
		return pass.ErrStop
	}
	return nil
}

// addUndecided adds a case whose first run was not identical. --fail-fast does not count a new
// case if new cases are allowed. Whether another allowed verdict will come is not known yet.
func (v *verdicts) addUndecided(u undecidedCase) {
	v.undecided[u.task.Index] = u
	v.waiting.add(u)
	if v.judge.base.Has(u.task.Entry.Name) || !v.mayBeNew {
		v.differing++
	}
}

// addIdentical adds a case whose first run was identical. The case has its verdict, unless --runs
// asks for more runs.
func (v *verdicts) addIdentical(t pass.Task, r firstResult) {
	u := undecidedCase{task: t, lane: r.lane, runs: 1, onEngine: r.onEngine, alike: true}
	u.word = report.Case{
		Verdict: outcome.Identical, Ending: &r.ending, GoldenEnding: &r.ending, Cost: r.cost,
		Flaky: r.left.Masked, Masked: r.left.Masked, Ignored: r.left.Ignored, Engine: r.onEngine,
	}
	if v.numbers.of(u) > 1 {
		v.undecided[t.Index] = u
		v.waiting.add(u)
		return
	}
	v.conclude(t, u.word)
}

// listUndecided lists the cases that have no verdict yet, in corpus order. It also returns the
// tasks of all cases whose verdicts are not reported yet.
func (v *verdicts) listUndecided() (cases []undecidedCase, unreported []pass.Task) {
	for _, i := range slices.Sorted(maps.Keys(v.undecided)) {
		u := v.undecided[i]
		ready := v.order.Has(u.task)
		if ready || !v.final[i] {
			unreported = append(unreported, u.task)
		}
		if !ready && !v.final[i] {
			cases = append(cases, u)
		}
	}
	return cases, unreported
}

// takeFurther takes the verdict on a case after its further runs.
func (v *verdicts) takeFurther(t pass.Task, j judgement) error {
	if j.err != nil {
		if v.order.Expects() {
			v.order.Add(t, func() {})
		}
		return v.takeError(t, j.err)
	}
	v.ledger.Summary.CPU += j.cpu
	v.order.Add(t, func() { v.conclude(t, j.word) })
	return nil
}

// takeError takes the error of a case that could not run.
func (v *verdicts) takeError(t pass.Task, err error) error {
	v.final[t.Index] = fault.ClassOf(err) == fault.Environment
	return v.ledger.MachineFailed(t, err)
}

// conclude gives a case its verdict.
func (v *verdicts) conclude(t pass.Task, word report.Case) {
	word.Name, word.Index = t.Entry.Name, t.Index
	v.final[t.Index] = true
	if word.Unstable {
		v.unstable++
	}
	v.costs.AddCase(t, &word)
	v.ledger.Verdict(word)
}

// reportUndecided reports the cases that differed and have no verdict when a run broke off.
// So every difference that a run showed is reported.
func (v *verdicts) reportUndecided() error {
	v.order.Flush()
	for _, i := range slices.Sorted(maps.Keys(v.undecided)) {
		if v.final[i] {
			continue
		}
		u := v.undecided[i]
		word, decided, err := v.judge.decide(u.task)
		if err != nil {
			return err
		}
		if !decided {
			continue // identical so far: --runs asks for more runs
		}
		switch word.Verdict {
		case outcome.Identical:
			continue
		case outcome.Flaky, outcome.New: // further runs would change nothing
		default:
			word.Verdict, word.Unstable = outcome.DifferedOnce, false
		}
		word.Engine = u.onEngine
		v.conclude(u.task, word)
	}
	return nil
}
