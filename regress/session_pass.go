package regress

import (
	"time"

	"muster/internal/readable"
	"muster/internal/wording"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// onePerLane reports whether a lane gets one task at once: with --fail-fast, what a lane has
// would still run, and an engine has its own queue.
func (s *session) onePerLane() bool { return s.o.Select.FailFast > 0 || s.crew.Width().Alone }

// runner runs cases on the session's executor. Call it after startCrew.
func (s *session) runner() pass.Runner {
	return pass.Runner{Executor: s.executor, Command: s.commands.For, Started: func(t pass.Task, number int) {
		s.events.Emit(report.CaseStarted{Name: t.Entry.Name, Pass: number, At: time.Now()})
	}}
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
