package regress

import (
	"muster/internal/wording"
	"muster/regress/internal/pass"
	"muster/regress/internal/run"
)

// orderTasks returns the tasks of a session in the order in which they run.
func orderTasks(s *session, took pass.Durations) []pass.Task {
	var failed map[string]bool
	if s.job.Select.FailedFirst {
		var err error
		if failed, err = run.LastNotIdentical(s.state, s.run); err != nil {
			s.events.Warn("--failed-first: " + wording.Of(err))
		}
	}
	if s.exec.Crew.Width().Goroutines <= 1 {
		took = nil // nobody waits for the last case
	}
	return s.in.OrderTasks(failed, took)
}
