package golden

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"muster/internal/filelock"
	"muster/regress/internal/fault"
)

// lock is the right to write a golden or to build its successor. The kernel releases it when the
// process ends, however it ends.
//
// SQLite's own locks are not enough. They belong to a file that a rename replaces, and do not show
// who holds them.
type lock struct{ file *os.File }

// lockSuffix is the suffix of the lock file.
const lockSuffix = ".lock"

// acquire takes the lock of the golden at path, without waiting.
func acquire(path string) (*lock, error) {
	for {
		f, err := os.OpenFile(path+lockSuffix, os.O_CREATE|os.O_RDWR|unix.O_NONBLOCK, 0o644)
		if err != nil {
			return nil, unwritableError(path, err)
		}
		current := false
		if err = checkLock(f, path); err == nil {
			current, err = tryLock(f, path)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		if !current {
			// The holder before removed it between open and lock.
			f.Close()
			continue
		}
		filelock.Sign(f)
		return &lock{f}, nil
	}
}

// checkLock returns nil if f can be a lock file: empty, or a number. Other programs have files that
// end in ".lock" too, and release removes the file.
func checkLock(f *os.File, path string) error {
	info, err := f.Stat()
	var b []byte
	const longest = len("18446744073709551615\n")
	if err == nil && info.Mode().IsRegular() {
		b, err = io.ReadAll(io.NewSectionReader(f, 0, int64(longest)+1))
	}
	switch {
	case err != nil:
		return lockError(path, err)
	case !info.Mode().IsRegular() || len(b) > longest || strings.Trim(string(b), "0123456789\n") != "":
		return fault.Inputf("golden %s: its lock file would be %s, but that is another file: name another --golden, or move that file away", path, path+lockSuffix)
	}
	return nil
}

func lockError(path string, err error) error {
	return fault.Environmentf("lock of golden %s: %w", path, fault.Reason(err))
}

// tryLock locks f, and reports whether f is still the file at its path.
func tryLock(f *os.File, path string) (current bool, err error) {
	current, err = filelock.Take(f)
	if errors.Is(err, filelock.ErrHeld) {
		return false, fault.Inputf("another muster%s is writing %s: wait for it", filelock.Holder(f.Name()), path)
	}
	if err != nil {
		return false, lockError(path, err)
	}
	return current, nil
}

// release releases the lock and removes its file.
func (l *lock) release() {
	os.Remove(l.file.Name())
	l.file.Close()
}

// unwritableError returns the error for a golden that may not be changed.
func unwritableError(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.Inputf("golden %s: its folder does not exist: make it, or name another file", path)
	}
	return fault.Environmentf("golden %s can't be written: %w: make it and its folder writable, or work on a copy", path, fault.Reason(err))
}
