package regress

import (
	"context"
	"errors"
	"sync"
	"time"

	"muster/internal/wording"
	"muster/pool"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
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

// runPass works on every task, on the session's goroutines, and
// hands each result to take, one at a time. It stops handing out work when ctx
// ends or take returns an error, and returns when nothing is under way any more;
// what was under way then is still handed to take, whose further errors are
// dropped.
func runPass[R any](ctx context.Context, s *session, tasks []task, work func(context.Context, task) R, take func(task, R) error) error {
	var taking sync.Mutex
	err := forEach(ctx, s.goroutines(), tasks, func(handing context.Context, t task) error {
		if handing.Err() != nil {
			return nil
		}
		r := work(ctx, t) // not ended by an error of take
		taking.Lock()
		defer taking.Unlock()
		return take(t, r)
	})
	return passError(ctx, err)
}

func passError(ctx context.Context, err error) error {
	if errors.Is(err, errStop) {
		return nil
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// forEach is pool.ForEach, or with no goroutines a loop.
func forEach[T any](ctx context.Context, goroutines int, items []T, do func(context.Context, T) error) error {
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

// batchedPass is a pass in which each task is one run of its case, so that a lane may get
// several at once.
type batchedPass[R any] struct {
	number int
	avoid  func(task) int // the lane that the case is to keep away from
	// look tells what a run, or its failure, comes to.
	look func(context.Context, task, *exec.Result, error) R
	take func(task, R) error
	// between does other work before the next tasks. It returns a function that notes the
	// result, or nil if it did nothing. Its duration is the expected one of the next task.
	between func(context.Context, time.Duration) (note func() error)
}

// run is runPass with several cases at once for each lane, where they are quick.
func (p batchedPass[R]) run(ctx context.Context, s *session, tasks []task) error {
	lanes := max(1, s.goroutines())
	q := newQueue(tasks, lanes, p.avoid)
	most := handMax
	if s.o.Select.FailFast > 0 || s.engine != nil {
		most = 1 // what a lane has would run all the same; an engine has a queue of its own
	}
	var taking sync.Mutex
	return passError(ctx, forEach(ctx, s.goroutines(), make([]struct{}, lanes), func(handing context.Context, _ struct{}) error {
		pace := newPace()
		for {
			if note := p.doBetween(handing, ctx, s.due.of(q.first())); note != nil {
				taking.Lock()
				err := note()
				taking.Unlock()
				if err != nil {
					return err
				}
				continue
			}
			h := q.next(min(most, pace.fits()))
			if len(h.tasks) == 0 || handing.Err() != nil {
				q.back(h, 0)
				return nil
			}
			var failed error
			ran := s.runHand(ctx, h, p.number, func(t task, r *exec.Result, err error) {
				if r != nil {
					pace.note(r.Cost.Wall)
				}
				got := p.look(ctx, t, r, err) // not ended by an error of take
				taking.Lock()
				defer taking.Unlock()
				if err := p.take(t, got); failed == nil {
					failed = err
				}
			})
			q.back(h, ran)
			if failed != nil {
				return failed
			}
		}
	}))
}

// doBetween calls between, unless the pass is ending.
func (p *batchedPass[R]) doBetween(handing, ctx context.Context, long time.Duration) (note func() error) {
	if p.between == nil || handing.Err() != nil {
		return nil
	}
	return p.between(ctx, long)
}

// runHand runs the first tasks of a hand, tells what comes of each, and returns how
// many that were.
func (s *session) runHand(ctx context.Context, h hand, pass int, ended func(task, *exec.Result, error)) int {
	jobs := make([]exec.Job, len(h.tasks))
	for i, t := range h.tasks {
		jobs[i] = exec.Job{Source: *t.entry, Command: s.command.For(t.entry.Name), Avoid: h.avoid, Fresh: pass > 1}
	}
	return s.crew.RunAll(ctx, exec.Batch{
		Jobs:    jobs,
		Started: func(i int) { s.started(h.tasks[i], pass) },
		Ended: func(i int, r *exec.Result, err error) {
			s.engine.count(h.tasks[i], r)
			ended(h.tasks[i], r, blamed(ctx, err))
		},
	})
}

// once runs a case once. fresh is as in exec.Job.
func (s *session) once(ctx context.Context, t task, c *exec.Command, pass, avoid int, fresh bool) (*exec.Result, error) {
	s.started(t, pass)
	r, err := s.crew.Run(ctx, exec.Job{Source: *t.entry, Command: c, Avoid: avoid, Fresh: fresh})
	s.engine.count(t, r)
	if err == nil {
		s.settling.settle(t.entry.Name, &r.Outcome)
	}
	return r, blamed(ctx, err)
}

func (s *session) started(t task, pass int) {
	s.emit(report.CaseStarted{Name: t.entry.Name, Pass: pass, At: time.Now()})
}

// blamed is the error of a run that was not ended by ctx: the machine's.
func blamed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && fault.ClassOf(err) != fault.Environment {
		return fault.Environmentf("%w", err)
	}
	return err
}

// machineFailed gives a case the verdict that the machine failed, if that is the error,
// and gives up after too many.
func (s *session) machineFailed(t task, err error) error {
	if fault.ClassOf(err) != fault.Environment {
		return err
	}
	s.verdict(report.Case{Name: t.entry.Name, Index: t.index, Verdict: outcome.Environment, Why: wording.Of(err)})
	if s.summary.Verdicts[outcome.Environment] >= environmentMax {
		return fault.Environmentf("%s failed because of the machine, the last one: %w", readable.Cases(environmentMax), err)
	}
	return nil
}

// all makes tasks of every selected case.
func (s *session) all() []task {
	tasks := make([]task, len(s.cases))
	for i := range s.cases {
		tasks[i] = task{i, &s.cases[i]}
	}
	return tasks
}
