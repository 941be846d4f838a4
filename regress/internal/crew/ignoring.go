package crew

import (
	"context"

	"muster/regress/internal/content"
	"muster/regress/internal/exec"
)

// ignoring is an executor whose results have Ignored parts. The digests of outcomes are made
// afterwards: an ignored log that differs each time makes no difference.
type ignoring struct {
	exec.Executor
	list content.IgnoreList
}

// IgnoreParts returns an executor that marks the parts to ignore.
func IgnoreParts(e exec.Executor, list content.IgnoreList) exec.Executor {
	if len(list) == 0 {
		return e
	}
	return ignoring{e, list}
}

// Run implements exec.Executor.
func (e ignoring) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	r, err := e.Executor.Run(ctx, j)
	return e.mark(r), err
}

// RunAll implements exec.Executor.
func (e ignoring) RunAll(ctx context.Context, b exec.Batch) int {
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) { ended(i, e.mark(r), err) }
	return e.Executor.RunAll(ctx, b)
}

func (e ignoring) mark(r *exec.Result) *exec.Result {
	if r != nil {
		r.Outcome.Ignore(e.list.Match)
	}
	return r
}
