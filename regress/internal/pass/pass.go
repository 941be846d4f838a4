// Package pass works on many cases at once. Input: one task for each case, a function that runs a
// task, and a function that takes its result. Several goroutines run tasks; results are taken one at
// a time. A lane gets several quick cases at once. Results can be put in corpus order.
//
// A Runner runs cases on an executor. The package knows no golden, verdict or event.
package pass

import (
	"context"
	"errors"
	"sync"

	"muster/pool"
	"muster/regress/internal/corpus"
)

// A Task is one case to work on.
type Task struct {
	Index int // among the selected cases
	Entry *corpus.Entry
}

// ErrStop ends a pass early, without a failure.
var ErrStop = errors.New("enough")

// EnvironmentMax is the number of cases that fail because of the machine before a run gives up. The
// other cases would fail the same way.
const EnvironmentMax = 20

// FailingFirst is the number of first runs that must all fail before a pass warns early.
const FailingFirst = 100

// Run works on every task, on a number of goroutines, and passes each result to take, one at a
// time. It starts no more work once ctx ends or take returns an error. It still passes on the
// results of work under way, and ignores further errors of take. It returns when all work has
// ended.
func Run[R any](ctx context.Context, goroutines int, tasks []Task, work func(context.Context, Task) R, take func(Task, R) error) error {
	var taking sync.Mutex
	err := ForEach(ctx, goroutines, tasks, func(handing context.Context, t Task) error {
		if handing.Err() != nil {
			return nil
		}
		r := work(ctx, t) // an error of take does not end it
		taking.Lock()
		defer taking.Unlock()
		return take(t, r)
	})
	return EndError(ctx, err)
}

// EndError returns the error of a pass that ended with err: nil for ErrStop, and that of ctx if
// err is nil.
func EndError(ctx context.Context, err error) error {
	if errors.Is(err, ErrStop) {
		return nil
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// ForEach is pool.ForEach, or a loop if goroutines is 0.
func ForEach[T any](ctx context.Context, goroutines int, items []T, do func(context.Context, T) error) error {
	if goroutines > 0 {
		return pool.ForEach(ctx, goroutines, items, do)
	}
	for _, t := range items {
		if err := do(ctx, t); err != nil {
			return err
		}
	}
	return nil
}
