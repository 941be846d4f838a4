package state

import (
	"errors"
	"os"
	"path/filepath"

	"muster/internal/filelock"
	"muster/regress"
	"muster/regress/internal/fault"
)

// Lock makes this process the only one that may write to the state. The lock lasts until unlock
// is called or the process ends.
func (s *State) Lock() (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, fault.Environmentf("state folder: %w", err)
	}
	path := s.lockPath()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fault.Environmentf("lock of the state folder: %w", err)
	}
	if _, err = filelock.Take(f); err != nil {
		f.Close()
		if errors.Is(err, filelock.ErrHeld) {
			return nil, fault.Inputf("another muster%s is at work in %s: wait for it, or give this one its own --state", filelock.Holder(path), s.dir)
		}
		return nil, fault.Environmentf("lock of the state folder: %w", err)
	}
	filelock.Sign(f)
	return func() { f.Close() }, nil
}

func (s *State) lockPath() string { return filepath.Join(s.dir, "lock") }

// AtWork reports whether a process holds the lock. who names it for messages, as in
// " (process 12)".
func (s *State) AtWork() (who string, busy bool) {
	f, err := os.Open(s.lockPath())
	if err != nil {
		return "", false // the lock file does not exist, or this user may not read it
	}
	defer f.Close()
	return filelock.Holder(s.lockPath()), filelock.Held(f)
}

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
