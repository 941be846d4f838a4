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
	"time"

	"muster/pool"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
)

// A Task is one case to work on.
type Task struct {
	Index int // among the selected cases
	Entry *corpus.Entry
}

// Split returns the chosen tasks and the others, in their order.
func Split(tasks []Task, isChosen func(Task) bool) (chosen, others []Task) {
	others = make([]Task, 0, len(tasks))
	for _, t := range tasks {
		if isChosen(t) {
			chosen = append(chosen, t)
		} else {
			others = append(others, t)
		}
	}
	return chosen, others
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

// Durations are the earlier durations of the selected cases, by index. It is nil if none is known,
// and 0 for an unknown case.
type Durations []time.Duration

// Complete gives unknown cases the mean of the known ones. It returns nil if none is known.
func (d Durations) Complete() Durations {
	var sum time.Duration
	known := 0
	for _, t := range d {
		if t > 0 {
			sum, known = sum+t, known+1
		}
	}
	if known == 0 {
		return nil
	}
	full := make(Durations, len(d))
	for i, t := range d {
		if full[i] = t; t == 0 {
			full[i] = sum / time.Duration(known)
		}
	}
	return full
}

// Sum returns the expected duration of all tasks together.
func (d Durations) Sum(tasks []Task) (sum time.Duration) {
	for _, t := range tasks {
		sum += d.Of(t.Index)
	}
	return sum
}

// Of returns the expected duration of one case, or 0 if it is unknown.
func (d Durations) Of(index int) time.Duration {
	if d == nil || index < 0 {
		return 0
	}
	return d[index]
}

const (
	// handTime is the expected total duration of the tasks that a lane gets at once. It is long
	// compared with the cost of asking and waking, some 25 µs, and short for people.
	handTime = 16 * time.Millisecond

	// handMax is the largest number of tasks at once.
	handMax = 8
)

// pace is a moving average of the durations of a lane's cases.
type pace time.Duration

func (p *pace) add(wall time.Duration) { *p += (pace(wall) - *p) / 4 }

// casesThatFit returns how many cases of this pace fit into handTime.
func (p *pace) casesThatFit() int {
	return max(1, min(handMax, int(handTime/time.Duration(max(*p, 1)))))
}

func newPace() *pace {
	p := pace(handTime)
	return &p
}

// A Runner runs cases on an executor. Several goroutines may call its methods.
type Runner struct {
	Executor exec.Executor
	Command  func(caseName string) *exec.Command // for RunTasks
	Started  func(t Task, number int)            // called before each run with the number of its pass
}

// RunOnce runs a command once on the case of a task. The run avoids a lane. fresh forbids an
// engine to return the result of an earlier run.
func (r Runner) RunOnce(ctx context.Context, t Task, c *exec.Command, number, avoid int, fresh bool) (*exec.Result, error) {
	r.Started(t, number)
	return exec.Run(ctx, r.Executor, exec.Job{Source: *t.Entry, Command: c, Avoid: avoid, Fresh: fresh})
}

// RunTasks returns a function for Batched.RunTasks. The runs of every pass but the first are
// fresh.
func (r Runner) RunTasks(number int) func(context.Context, []Task, int, func(Task, *exec.Result, error)) int {
	return func(ctx context.Context, tasks []Task, avoid int, ended func(Task, *exec.Result, error)) int {
		jobs := make([]exec.Job, len(tasks))
		for i, t := range tasks {
			jobs[i] = exec.Job{Source: *t.Entry, Command: r.Command(t.Entry.Name), Avoid: avoid, Fresh: number > 1}
		}
		return r.Executor.RunAll(ctx, exec.Batch{
			Jobs:    jobs,
			Started: func(i int) { r.Started(tasks[i], number) },
			Ended:   func(i int, r *exec.Result, err error) { ended(tasks[i], r, err) },
		})
	}
}
