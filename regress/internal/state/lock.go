package state

import (
	"errors"
	"os"
	"path/filepath"

	"muster/internal/filelock"
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
