package regress

import (
	"time"

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
