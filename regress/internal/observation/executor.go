package observation

import (
	"context"

	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
)

// observing is an executor that observes some cases after their plain runs.
type observing struct {
	exec.Executor
	observer *Observer
}

// Decorate returns an executor that observes some of its cases. A nil Observer observes none.
func (o *Observer) Decorate(e exec.Executor) exec.Executor {
	if o == nil {
		return e
	}
	return observing{e, o}
}

// Run implements exec.Executor.
func (e observing) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	r, err := e.Executor.Run(ctx, j)
	if err == nil && e.observer.isDue(j, r) {
		e.observer.observe(ctx, e.Executor, j, r.Outcome.Digest())
	}
	return r, err
}

// RunAll implements exec.Executor.
func (e observing) RunAll(ctx context.Context, b exec.Batch) int {
	type due struct {
		job   exec.Job
		plain outcome.Digest
	}
	var list []due
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) {
		if err == nil && e.observer.isDue(b.Jobs[i], r) {
			list = append(list, due{b.Jobs[i], r.Outcome.Digest()})
		}
		ended(i, r, err)
	}
	n := e.Executor.RunAll(ctx, b)
	for _, d := range list {
		e.observer.observe(ctx, e.Executor, d.job, d.plain)
	}
	return n
}
