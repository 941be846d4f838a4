package pass

import (
	"context"
	"sync"
	"time"

	"muster/regress/internal/exec"
)

// A Batched pass makes one run of each task's case. A lane may get several tasks at once.
type Batched[R any] struct {
	Goroutines int
	Alone      bool           // a lane gets one task at a time
	Due        Durations      // the expected duration of each case
	Avoid      func(Task) int // the lane that the case avoids
	// RunTasks runs tasks in order on one lane, and calls ended for each. It returns the number
	// of tasks that ran.
	RunTasks func(ctx context.Context, tasks []Task, avoid int, ended func(Task, *exec.Result, error)) int
	// Examine makes the result of a run, or of its failure. Receive gets the results, one at a time.
	Examine func(context.Context, Task, *exec.Result, error) R
	Receive func(Task, R) error
	// Between may be nil. It does other work before the next tasks. It returns a function that
	// records the result, or nil if it did nothing. Its argument is the expected duration of the
	// next task.
	Between func(context.Context, time.Duration) (note func() error)
}

// Run works on every task, as the function Run does. A lane gets several quick cases at once.
func (p Batched[R]) Run(ctx context.Context, tasks []Task) error {
	lanes := max(1, p.Goroutines)
	q := newQueue(tasks, lanes, p.Avoid)
	most := handMax
	if p.Alone {
		most = 1
	}
	var taking sync.Mutex
	return EndError(ctx, ForEach(ctx, p.Goroutines, make([]struct{}, lanes), func(handing context.Context, _ struct{}) error {
		pace := newPace()
		for {
			if note := p.doBetween(handing, ctx, p.Due.Of(q.first())); note != nil {
				taking.Lock()
				err := note()
				taking.Unlock()
				if err != nil {
					return err
				}
				continue
			}
			h := q.next(min(most, pace.casesThatFit()))
			if len(h.tasks) == 0 || handing.Err() != nil {
				q.giveBack(h, 0)
				return nil
			}
			var failed error
			ran := p.RunTasks(ctx, h.tasks, h.avoid, func(t Task, r *exec.Result, err error) {
				if r != nil {
					pace.add(r.Cost.Wall)
				}
				got := p.Examine(ctx, t, r, err) // an error of take does not end it
				taking.Lock()
				defer taking.Unlock()
				if err := p.Receive(t, got); failed == nil {
					failed = err
				}
			})
			q.giveBack(h, ran)
			if failed != nil {
				return failed
			}
		}
	}))
}

// doBetween calls Between, unless the pass is ending.
func (p *Batched[R]) doBetween(handing, ctx context.Context, long time.Duration) (note func() error) {
	if p.Between == nil || handing.Err() != nil {
		return nil
	}
	return p.Between(ctx, long)
}
