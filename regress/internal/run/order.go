package run

import (
	"slices"

	"muster/regress/internal/pass"
	"muster/regress/internal/plan"
	"muster/regress/internal/state"
)

// OrderTasks returns the tasks in the order in which they run: first the failed cases, then those
// that take long.
func (in *Inputs) OrderTasks(failed map[string]bool, took pass.Durations) []pass.Task {
	tasks := in.Tasks()
	ordered := make([]pass.Task, 0, len(tasks))
	for _, i := range plan.Order(in.Names(), failed, took) {
		ordered = append(ordered, tasks[i])
	}
	return ordered
}

// LastNotIdentical returns the names of the cases that were not identical in the last check or
// compare, except that of the present run. It returns nil if there was none.
func LastNotIdentical(s *state.State, present *state.Run) (map[string]bool, error) {
	runs, err := s.Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(runs) {
		if state.IsCheck(r) && r.Summary != nil && (present == nil || r.ID != present.ID) {
			return state.NotIdentical(r)
		}
	}
	return nil, nil
}
