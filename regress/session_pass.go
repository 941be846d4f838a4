package regress

import (
	"context"
	"time"

	"muster/internal/readable"
	"muster/internal/wording"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// onePerLane reports whether a lane gets one task at once: with --fail-fast, what a lane has
// would still run, and an engine has its own queue.
func (s *session) onePerLane() bool { return s.o.Select.FailFast > 0 || s.crew.Width().Alone }

// runTasks returns a function that runs tasks of a pass in order on one lane. It calls ended for
// each, and returns the number of tasks that ran.
func runTasks(s *session, number int) func(context.Context, []pass.Task, int, func(pass.Task, *exec.Result, error)) int {
	return func(ctx context.Context, tasks []pass.Task, avoid int, ended func(pass.Task, *exec.Result, error)) int {
		jobs := make([]exec.Job, len(tasks))
		for i, t := range tasks {
			jobs[i] = exec.Job{Source: *t.Entry, Command: s.commands.For(t.Entry.Name), Avoid: avoid, Fresh: number > 1}
		}
		return s.executor.RunAll(ctx, exec.Batch{
			Jobs:    jobs,
			Started: func(i int) { s.started(tasks[i], number) },
			Ended:   func(i int, r *exec.Result, err error) { ended(tasks[i], r, err) },
		})
	}
}

// once runs a case once. fresh is as in exec.Job.
func (s *session) once(ctx context.Context, t pass.Task, c *exec.Command, pass, avoid int, fresh bool) (*exec.Result, error) {
	s.started(t, pass)
	return s.executor.Run(ctx, exec.Job{Source: *t.Entry, Command: c, Avoid: avoid, Fresh: fresh})
}

func (s *session) started(t pass.Task, pass int) {
	s.events.Emit(report.CaseStarted{Name: t.Entry.Name, Pass: pass, At: time.Now()})
}

// machineFailed gives a case the verdict that the machine failed, if that is the error,
// and gives up after too many.
func (s *session) machineFailed(t pass.Task, err error) error {
	if fault.ClassOf(err) != fault.Environment {
		return err
	}
	s.verdict(report.Case{Name: t.Entry.Name, Index: t.Index, Verdict: outcome.Environment, Why: wording.Of(err)})
	if s.summary.Verdicts[outcome.Environment] >= pass.EnvironmentMax {
		return fault.Environmentf("%s failed because of the machine, the last one: %w", readable.Cases(pass.EnvironmentMax), err)
	}
	return nil
}

// all makes tasks of every selected case.
func (s *session) all() []pass.Task {
	tasks := make([]pass.Task, len(s.cases))
	for i := range s.cases {
		tasks[i] = pass.Task{Index: i, Entry: &s.cases[i]}
	}
	return tasks
}
