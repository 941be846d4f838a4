// Package filelock locks files for one process at a time. The kernel gives a
// lock back when its process ends, however it ends.
//
// It must not know what is locked, nor open or remove files.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrHeld says that another process has the lock.
var ErrHeld = errors.New("another process holds the lock")

// Take locks f without waiting, until f is closed, and reports whether f is
// still what lies at its path: the holder before may have removed or replaced
// it after f was opened, and then the lock is worth nothing. The error is
// ErrHeld or that of the system.
func Take(f *os.File) (current bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, ErrHeld
	}
	if err != nil {
		return false, os.NewSyscallError("flock", err)
	}
	ours, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(ours, there), nil
}

// Held reports whether another open file has the lock. To find out it shares the lock for a
// moment, in which a Take elsewhere fails: it is for saying why something went wrong.
func Held(f *os.File) bool {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return errors.Is(err, unix.EWOULDBLOCK)
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing f gives it back too
	return false
}

// Sign notes this process in a file that it has locked, for Holder.
func Sign(f *os.File) {
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
}

// Holder returns " (process 123)", for messages, or "" where nobody signed.
func Holder(path string) string {
	text, _ := os.ReadFile(path)
	if pid := strings.TrimSpace(string(text)); pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}
