package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"muster/regress/internal/fault"
)

// Lock makes this process the one that may write to the state, until unlock is
// called or the process ends, however it ends.
func (s *State) Lock() (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, fault.Environmentf("state folder: %w", err)
	}
	path := filepath.Join(s.dir, "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fault.Environmentf("lock of the state folder: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		holder, _ := os.ReadFile(path)
		f.Close()
		return nil, fault.Inputf("another muster%s is at work in %s: wait for it, or give this one its own --state", by(holder), s.dir)
	}
	if err != nil {
		f.Close()
		return nil, fault.Environmentf("lock of the state folder: %w", err)
	}
	// For the message above only; the lock itself is the kernel's.
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return func() { f.Close() }, nil
}

func by(holder []byte) string {
	if pid := strings.TrimSpace(string(holder)); pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}
