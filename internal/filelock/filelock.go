// Package filelock locks files for one process at a time. The kernel releases a lock when its
// process ends, however it ends.
//
// The package must not know the purpose of a file, nor open or remove files.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrHeld reports that another process holds the lock.
var ErrHeld = errors.New("another process holds the lock")

// Take locks f until f is closed, without waiting. current reports whether f is still the file
// at its path. The previous holder may have removed or replaced the file after f was opened,
// and then the lock protects nothing. The error is ErrHeld or an error of the system.
func Take(f *os.File) (current bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, ErrHeld
	}
	if err != nil {
		return false, os.NewSyscallError("flock", err)
	}
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	present, err := os.Lstat(f.Name())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, present), err
}

// Held reports whether another open file has the lock. It takes a shared lock for a moment, in
// which a concurrent Take fails. Use it only to explain a failure.
func Held(f *os.File) bool {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return errors.Is(err, unix.EWOULDBLOCK)
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing f releases it too
	return false
}

// Sign writes this process's id into a file that it has locked, for Holder.
func Sign(f *os.File) {
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
}

// Holder returns text for messages, such as " (process 123)", or "" if nobody has signed.
func Holder(path string) string {
	text, _ := os.ReadFile(path)
	if pid := strings.TrimSpace(string(text)); pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}
