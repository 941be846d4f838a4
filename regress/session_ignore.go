package regress

import (
	"context"

	"muster/regress/internal/content"
	"muster/regress/internal/exec"
)

// ignoringExecutor is an executor whose results have Ignored parts. The digests of outcomes
// are made afterwards: an ignored log that differs each time makes no difference.
type ignoringExecutor struct {
	exec.Executor
	list content.Ignoring
}

// ignoringCrew returns the crew, or one that ignores what the options name. A single case
// that people look at has all of its parts.
func (s *session) ignoringCrew(crew exec.Executor) exec.Executor {
	if len(s.ignored) == 0 || s.name == runCommand {
		return crew
	}
	return ignoringExecutor{crew, s.ignored}
}

// Run implements exec.Executor.
func (e ignoringExecutor) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	r, err := e.Executor.Run(ctx, j)
	return e.mark(r), err
}

// RunAll implements exec.Executor.
func (e ignoringExecutor) RunAll(ctx context.Context, b exec.Batch) int {
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) { ended(i, e.mark(r), err) }
	return e.Executor.RunAll(ctx, b)
}

func (e ignoringExecutor) mark(r *exec.Result) *exec.Result {
	if r != nil {
		r.Outcome.Ignore(e.list.Match)
	}
	return r
}
