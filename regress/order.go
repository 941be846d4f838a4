package regress

import (
	"slices"
	"time"

	"muster/regress/internal/golden"
	"muster/regress/internal/plan"
)

// ordered returns the selected cases in the order in which they run. took has how
// long each took before, by index, and is nil when nothing is known.
func (s *session) ordered(took []time.Duration) []task {
	tasks := s.all()
	var failed map[string]bool
	if s.o.Select.FailedFirst {
		var err error
		if failed, err = s.lastNotIdentical(); err != nil {
			s.warn("--failed-first: " + err.Error())
		}
	}
	if s.o.Limits.Jobs <= 1 {
		took = nil // nobody waits for the last case
	}
	names := make([]string, len(tasks))
	indices := make([]int, len(tasks))
	for i, t := range tasks {
		names[i], indices[i] = t.entry.Name, i
	}
	ordered := make([]task, 0, len(tasks))
	for _, i := range plan.Order(indices, names, failed, took) {
		ordered = append(ordered, tasks[i])
	}
	return ordered
}

// walls returns how long the selected cases took in a golden.
func (s *session) walls(g *golden.Store) []time.Duration {
	took := make([]time.Duration, len(s.cases))
	for i, e := range s.cases {
		took[i] = g.Wall(e.Name)
	}
	return took
}

// lastNotIdentical returns the names of the cases that were not identical in
// the last check or compare before this run, if there was one.
func (s *session) lastNotIdentical() (map[string]bool, error) {
	runs, err := s.state.Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(runs) {
		if isChecking(r) && r.Summary != nil && (s.run == nil || r.ID != s.run.ID) {
			return notIdentical(r)
		}
	}
	return nil, nil
}
