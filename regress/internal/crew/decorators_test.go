package crew

import (
	"context"
	"errors"
	"testing"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// fake runs every job with one result, or one error.
type fake struct {
	exec.Executor
	ending regress.Ending
	err    error
}

func (f fake) Run(context.Context, exec.Job) (*exec.Result, error) {
	if f.err != nil {
		return nil, f.err
	}
	parts := []outcome.Part{{Key: outcome.Key{Place: outcome.File, Path: "log"}}}
	r := exec.NewResult(outcome.Outcome{Ending: f.ending, Parts: parts}, outcome.Cost{}, exec.NoLane, nil, nil)
	r.Engine = &outcome.EngineRun{}
	return r, nil
}

func (f fake) RunAll(ctx context.Context, b exec.Batch) int {
	for i, j := range b.Jobs {
		r, err := f.Run(ctx, j)
		b.Ended(i, r, err)
	}
	return len(b.Jobs)
}

// runBothWays runs a case alone and in a batch, and calls see with each result.
func runBothWays(ctx context.Context, e exec.Executor, see func(*exec.Result, error)) {
	see(exec.Run(ctx, e, jobOf("x.c")))
	e.RunAll(ctx, exec.Batch{Jobs: []exec.Job{jobOf("x.c")}, Ended: func(_ int, r *exec.Result, err error) { see(r, err) }})
}

// An engine reports a signal as an exit status. The golden's ending decides.
func TestSettler(t *testing.T) {
	exited, signalled := regress.Ending{Kind: regress.Exited, Code: 137}, regress.Ending{Kind: regress.Signalled, Code: 9}
	known := func(string) (golden.Record, bool, error) {
		return golden.Record{Outcome: outcome.Outcome{Ending: signalled, ByStatus: true}}, true, nil
	}
	for want, s := range map[regress.Ending]Settler{exited: {}, signalled: NewSettler(known)} {
		runs := 0
		runBothWays(t.Context(), s.Decorate(fake{ending: exited}), func(r *exec.Result, err error) {
			if runs++; err != nil || r.Outcome.Ending != want {
				t.Errorf("%v, %v, want %v", r.Outcome.Ending, err, want)
			}
		})
		if runs != 2 {
			t.Errorf("%d runs", runs)
		}
	}
}

// Settling leaves a run without a result alone.
func TestSettlerOfFailure(t *testing.T) {
	broken := errors.New("broken")
	known := func(string) (r golden.Record, known bool, err error) {
		t.Error("the golden is read for a failure")
		return r, false, nil
	}
	runBothWays(t.Context(), NewSettler(known).Decorate(fake{err: broken}), func(_ *exec.Result, err error) {
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}

// The machine is to blame for an error, unless the context ended.
func TestErrorsOfTheMachine(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want regress.Class
	}{
		{t.Context(), errors.New("broken"), regress.Environment},
		{t.Context(), fault.Inputf("corpus"), regress.Environment},
		{ended, context.Canceled, regress.Interrupted},
		{ended, fault.Inputf("corpus"), regress.Input},
		{t.Context(), nil, regress.None},
	} {
		runBothWays(c.ctx, Finish(fake{err: c.err}, nil, nil), func(_ *exec.Result, err error) {
			if got := regress.ClassOf(err); got != c.want || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%v is of class %v, want %v", err, got, c.want)
			}
		})
	}
}
