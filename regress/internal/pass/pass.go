// Package pass works on many cases at once. In go the tasks, one a case, and functions that run
// and take them; out come calls of these functions: work on several goroutines, take one at a
// time. Quick cases go to a lane several at once, and results can be put in corpus order.
//
// It starts no run itself. It knows no command, no golden, no verdict and no event.
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

// ErrStop ends a pass early. It is no failure.
var ErrStop = errors.New("enough")

// EnvironmentMax is the number of cases that fail because of the machine before a run gives up:
// the others would fail the same way.
const EnvironmentMax = 20

// FailingFirst is the number of first runs that must all fail for a warning before a pass ends.
const FailingFirst = 100

// Run works on every task, on a number of goroutines, and hands each result to take, one at a
// time. It starts no more work when ctx ends or take returns an error. It still hands to take the
// results of work under way, and drops further errors of take. It returns when all work ended.
func Run[R any](ctx context.Context, goroutines int, tasks []Task, work func(context.Context, Task) R, take func(Task, R) error) error {
	var taking sync.Mutex
	err := ForEach(ctx, goroutines, tasks, func(handing context.Context, t Task) error {
		if handing.Err() != nil {
			return nil
		}
		r := work(ctx, t) // not ended by an error of take
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
