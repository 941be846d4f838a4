package regress

import (
	"context"
	"errors"
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
	entry corpus.Entry
}

// errStop ends a pass early, without being a failure.
var errStop = errors.New("enough")

// environmentMax is how many cases may fail because of the machine before a run
// gives up: the rest would only fail the same way.
const environmentMax = 20

// runPass works on every task, on as many workers as there are jobs, and hands
// each result to take, on the goroutine that called. It stops handing out work
// when ctx ends or take returns an error, and returns when nothing is under
// way any more; what was under way then is still handed to take, whose further
// errors are dropped.
func runPass[R any](ctx context.Context, s *session, tasks []task, work func(context.Context, *worker, task) R, take func(task, R) error) error {
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	owner := make(chan message[R], 4*max(1, s.o.Limits.Jobs)) // so that workers seldom wait for it
	go func() {
		defer close(owner)
		feed(feeding, s.o.Limits.Jobs, tasks, func(t task) {
			if feeding.Err() != nil {
				return
			}
			m := message[R]{task: t, taken: make(chan struct{})}
			m.result = work(ctx, &worker{s, func(e report.Event) { owner <- message[R]{event: e} }}, t)
			owner <- m
			if s.o.Select.FailFast > 0 {
				<-m.taken // it may be what stops the rest
			}
		})
	}()
	first := drain(s, owner, take, stop)
	if first == nil {
		first = ctx.Err()
	}
	if errors.Is(first, errStop) {
		return nil
	}
	return first
}

// message is what workers tell the owner of a run: that something happened, or
// what came of a task.
type message[R any] struct {
	event  report.Event
	task   task
	result R
	taken  chan struct{} // closed once the owner knows
}

// drain takes every message and returns the first error of take, at which it
// stops the feeding.
func drain[R any](s *session, owner <-chan message[R], take func(task, R) error, stop func()) (first error) {
	for m := range owner {
		if m.event != nil {
			s.emit(m.event)
			continue
		}
		if err := take(m.task, m.result); err != nil && first == nil {
			first = err
			stop()
		}
		close(m.taken)
	}
	return first
}

// feed hands out the tasks until ctx ends, and waits for those handed out.
func feed(ctx context.Context, jobs int, tasks []task, handle func(task)) {
	if jobs == 0 {
		for _, t := range tasks {
			if ctx.Err() != nil {
				return
			}
			handle(t)
		}
		return
	}
	// The queue is short: what is in it runs even after ctx has ended.
	p := pool.New(jobs, handle, pool.Queue(1))
	defer p.Close()
	for _, t := range tasks {
		if ctx.Err() != nil || p.SubmitContext(ctx, t) != nil {
			return
		}
	}
}

// worker is what one task may use of its session.
type worker struct {
	s    *session
	tell func(report.Event)
}

// once runs a case once.
func (w *worker) once(ctx context.Context, t task, c *exec.Command, pass, avoid int) (*exec.Result, error) {
	w.tell(report.CaseStarted{Name: t.entry.Name, Pass: pass, At: time.Now()})
	r, err := w.s.crew.Run(ctx, exec.Job{Source: t.entry, Command: c, Avoid: avoid})
	if err != nil && ctx.Err() == nil && fault.ClassOf(err) != fault.Environment {
		err = fault.Environmentf("%w", err)
	}
	return r, err
}

// all makes tasks of every selected case.
func (s *session) all() []task {
	tasks := make([]task, len(s.cases))
	for i, e := range s.cases {
		tasks[i] = task{i, e}
	}
	return tasks
}
