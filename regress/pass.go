package regress

import (
	"context"
	"errors"
	"sync"
	"time"

	"muster/pool"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
)

// task is one case to be worked on.
type task struct {
	index int // in session.cases
	entry *corpus.Entry
}

// errStop ends a pass early, without being a failure.
var errStop = errors.New("enough")

// environmentMax is how many cases may fail because of the machine before a run
// gives up: the rest would only fail the same way.
const environmentMax = 20

// runPass works on every task, on as many goroutines as there are jobs, and
// hands each result to take, one at a time. It stops handing out work when ctx
// ends or take returns an error, and returns when nothing is under way any more;
// what was under way then is still handed to take, whose further errors are
// dropped.
func runPass[R any](ctx context.Context, s *session, tasks []task, work func(context.Context, task) R, take func(task, R) error) error {
	var taking sync.Mutex
	err := forEach(ctx, s.o.Limits.Jobs, tasks, func(handing context.Context, t task) error {
		if handing.Err() != nil {
			return nil
		}
		r := work(ctx, t) // not ended by an error of take
		taking.Lock()
		defer taking.Unlock()
		return take(t, r)
	})
	if errors.Is(err, errStop) {
		return nil
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// forEach is pool.ForEach, or without jobs a loop.
func forEach(ctx context.Context, jobs int, tasks []task, do func(context.Context, task) error) error {
	if jobs > 0 {
		return pool.ForEach(ctx, jobs, tasks, do)
	}
	for _, t := range tasks {
		if err := do(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// once runs a case once.
func (s *session) once(ctx context.Context, t task, c *exec.Command, pass, avoid int) (*exec.Result, error) {
	s.emit(report.CaseStarted{Name: t.entry.Name, Pass: pass, At: time.Now()})
	r, err := s.crew.Run(ctx, exec.Job{Source: *t.entry, Command: c, Avoid: avoid})
	if err != nil && ctx.Err() == nil && fault.ClassOf(err) != fault.Environment {
		err = fault.Environmentf("%w", err)
	}
	return r, err
}

// all makes tasks of every selected case.
func (s *session) all() []task {
	tasks := make([]task, len(s.cases))
	for i := range s.cases {
		tasks[i] = task{i, &s.cases[i]}
	}
	return tasks
}
