package regress

import (
	"slices"

	"muster/internal/wording"
	"muster/regress/internal/pass"
	"muster/regress/internal/plan"
	"muster/regress/internal/state"
)

// ordered returns the selected cases in the order in which they run.
func (s *session) ordered(took pass.Durations) []pass.Task {
	tasks := s.in.Tasks()
	var failed map[string]bool
	if s.o.Select.FailedFirst {
		var err error
		if failed, err = s.lastNotIdentical(); err != nil {
			s.events.Warn("--failed-first: " + wording.Of(err))
		}
	}
	if s.exec.Crew.Width().Goroutines <= 1 {
		took = nil // nobody waits for the last case
	}
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = t.Entry.Name
	}
	ordered := make([]pass.Task, 0, len(tasks))
	for _, i := range plan.Order(names, failed, took) {
		ordered = append(ordered, tasks[i])
	}
	return ordered
}

// lastNotIdentical returns the names of the cases that were not identical in
// the last check or compare before this run, if there was one.
func (s *session) lastNotIdentical() (map[string]bool, error) {
	runs, err := s.state.Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(runs) {
		if state.IsCheck(r) && r.Summary != nil && (s.run == nil || r.ID != s.run.ID) {
			return state.NotIdentical(r)
		}
	}
	return nil, nil
}
