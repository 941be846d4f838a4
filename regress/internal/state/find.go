package state

import (
	"muster/regress"
	"muster/regress/internal/fault"
)

// FindRun returns the run whose ID begins with id, of any kind. An empty id means the last run.
// Its errors are those of Find and Last.
func FindRun(s *State, id string) (*Run, error) {
	if id == "" {
		return s.Last(func(*Run) bool { return true }, "run yet: muster record makes one")
	}
	return s.Find(id)
}

// FindCheck is like FindRun, for checks and compares. The ID of another run is an error of
// class fault.Input.
func FindCheck(s *State, id string) (*Run, error) {
	if id == "" {
		return s.Last(IsCheck, "check or compare yet: muster check makes one, once muster record has made a golden")
	}
	run, err := s.Find(id)
	if err == nil && !IsCheck(run) {
		err = fault.Inputf("run %s was a %s: only check and compare find differences: muster runs lists them", run.ID, run.Command)
	}
	return run, err
}

// IsCheck reports whether a run was a check or a compare. Only these have results.
func IsCheck(r *Run) bool {
	return r.Command == regress.CheckCommand || r.Command == regress.CompareCommand
}

// NotIdentical returns the names of the cases that were not identical in a run, as raw bytes.
func NotIdentical(r *Run) (map[string]bool, error) {
	results, err := r.Results()
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(results))
	for _, res := range results {
		names[string(res.Name)] = true
	}
	return names, nil
}
