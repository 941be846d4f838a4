package crew

import (
	"context"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
)

// classifying is an executor whose errors are of class Environment, unless the context ended.
type classifying struct{ exec.Executor }

// ClassifyErrors returns an executor that blames the machine for the errors of another one.
func ClassifyErrors(e exec.Executor) exec.Executor { return classifying{e} }

// Run implements exec.Executor.
func (e classifying) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	r, err := e.Executor.Run(ctx, j)
	return r, asEnvironment(ctx, err)
}

// RunAll implements exec.Executor.
func (e classifying) RunAll(ctx context.Context, b exec.Batch) int {
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) { ended(i, r, asEnvironment(ctx, err)) }
	return e.Executor.RunAll(ctx, b)
}

// asEnvironment gives err the class Environment, unless ctx ended.
func asEnvironment(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && regress.ClassOf(err) != regress.Environment {
		return fault.Environmentf("%w", err)
	}
	return err
}
