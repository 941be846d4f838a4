package crew

import (
	"context"

	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
)

// A Settler decides between two endings that an engine reports alike: it gives a run the ending
// that the golden has of the case. Accepts may leave a golden with outcomes of this machine
// and of an engine. Each outcome says which it is. The zero Settler changes nothing: all
// outcomes are of this machine. Several goroutines may use a Settler.
type Settler struct{ known Lookup }

// NewSettler returns a Settler for runs that are compared with a golden.
func NewSettler(known Lookup) Settler { return Settler{known} }

// Settle gives a run of a case its ending.
func (s Settler) Settle(caseName string, o *outcome.Outcome) {
	if s.known == nil || !outcome.HasTwoReadings(o.Ending) {
		return
	}
	if old, ok, err := s.known(caseName); err == nil && ok { // the comparison reports the error
		o.Settle(&old.Outcome)
	}
}

// Decorate returns an executor whose results are settled.
func (s Settler) Decorate(e exec.Executor) exec.Executor {
	if s.known == nil {
		return e
	}
	return settling{e, s}
}

// settling is an executor that settles the results of another one.
type settling struct {
	exec.Executor
	settler Settler
}

// Run implements exec.Executor.
func (e settling) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	r, err := e.Executor.Run(ctx, j)
	e.settle(j, r, err)
	return r, err
}

// RunAll implements exec.Executor.
func (e settling) RunAll(ctx context.Context, b exec.Batch) int {
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) {
		e.settle(b.Jobs[i], r, err)
		ended(i, r, err)
	}
	return e.Executor.RunAll(ctx, b)
}

func (e settling) settle(j exec.Job, r *exec.Result, err error) {
	if err == nil {
		e.settler.Settle(j.Source.Name, &r.Outcome)
	}
}
