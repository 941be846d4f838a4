package verdict

import (
	"context"

	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/turns"
)

// firstResult is the result of the first run of a case.
type firstResult struct {
	err       error
	identical bool
	ending    regress.Ending
	left      content.Uncompared
	cost      outcome.Cost
	beside    *turns.Turn // both runs, if another command ran beside
	lane      int
	onEngine  *outcome.EngineRun
}

// firstRuns makes the first runs of cases, and stores the outcomes of those that differ. Several
// goroutines may call its methods.
type firstRuns struct {
	runner pass.Runner
	judge  *Judge
	settle func(caseName string, o *outcome.Outcome)
	costs  *turns.Measurement
}

// compare compares a first run with the golden, and stores it if it is not identical.
func (f *firstRuns) compare(ctx context.Context, t pass.Task, r *exec.Result, err error) firstResult {
	if err != nil {
		return firstResult{err: err}
	}
	defer r.Release()
	got := firstResult{ending: r.Outcome.Ending, cost: r.Cost, lane: r.Lane, onEngine: r.Engine}
	l, left, err := f.judge.Compare(t.Entry.Name, r)
	got.identical, got.left, got.err = l == keep.Alike, left, err
	if err == nil && l != keep.Alike {
		got.err = f.judge.Found.Put(ctx, t.Entry.Name, r, l)
	}
	return got
}

// runBesideRival runs the candidate on a case, and its rival beside it.
func (f *firstRuns) runBesideRival(ctx context.Context, t pass.Task) (got firstResult) {
	both := f.costs.RunBoth(ctx, t, 1, t.Index%2, func(r *exec.Result, err error) {
		if err == nil {
			f.settle(t.Entry.Name, &r.Outcome)
		}
		got = f.compare(ctx, t, r, err)
	})
	if got.err == nil {
		got.err = both.Err(turns.NewRun)
	}
	got.beside = &both
	return got
}

// runBesideReference runs the reference and the candidate on a case. They take turns to go first,
// so that neither always has the warmer caches. Both runs are stored if they are not identical.
func (f *firstRuns) runBesideReference(ctx context.Context, t pass.Task) firstResult {
	commands := [2]*exec.Command{f.judge.Reference.Command, f.runner.Command(t.Entry.Name)}
	same := commands[0].Same(commands[1])
	var results [2]*exec.Result
	avoid := exec.NoLane
	for n := range commands {
		i := (n + t.Index) % 2
		r, err := f.runner.RunOnce(ctx, t, commands[i], 1, avoid, same && n > 0) // else one run would be compared with itself
		if err != nil {
			return firstResult{err: err}
		}
		defer r.Release()
		results[i], avoid = r, r.Lane
	}
	return f.comparePair(ctx, t, results[0], results[1])
}

// comparePair compares a run of the candidate with one of the reference, and stores both if they
// are not identical.
func (f *firstRuns) comparePair(ctx context.Context, t pass.Task, ref, now *exec.Result) firstResult {
	got := firstResult{ending: now.Outcome.Ending, cost: now.Cost, lane: now.Lane, onEngine: now.Engine, beside: &turns.Turn{}}
	got.beside.Record(turns.OldRun, ref, nil)
	got.beside.Record(turns.NewRun, now, nil)
	l, err := keep.Compare(&ref.Outcome, &now.Outcome, f.judge.Comparer.Same(ref.Open, now.Open))
	if err != nil {
		return firstResult{err: err}
	}
	left, err := content.UncomparedIn(nil, content.Side{Outcome: &ref.Outcome, Open: ref.Open}) // one run: nothing varies
	if err != nil {
		return firstResult{err: err}
	}
	if got.identical, got.left = l == keep.Alike, left.With(&now.Outcome); !got.identical {
		got.err = f.judge.Reference.Put(ctx, t.Entry.Name, ref, keep.Unmatched)
		if got.err == nil {
			got.err = f.judge.Found.Put(ctx, t.Entry.Name, now, l)
		}
	}
	return got
}
