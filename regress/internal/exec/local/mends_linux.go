package local

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// errFull says that a lane's file system has no room, and what helps.
type errFull struct{ text, mend string }

func (e *errFull) Error() string { return e.text + "; " + e.mend }

// blamed is the error for what a helper could not do.
func (c *Crew) blamed(text string, changed, full bool) error {
	text = name.Print(text)
	switch {
	case changed:
		return fault.Inputf("%s; run again when nothing writes there", text)
	case full:
		return fault.Environmentf("%w", &errFull{text, c.roomMend()})
	}
	return fault.Environmentf("%s", text)
}

// mended adds to an error of our own what helps when there is no room.
func (c *Crew) mended(err error) error { return withMend(err, c.roomMend()) }

func withMend(err error, mend string) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fault.Environmentf("%w", &errFull{err.Error(), mend})
	}
	return err
}

func (c *Crew) roomMend() string {
	if c.o.Keep != "" {
		return fmt.Sprintf("free space in %s, or give --keep a folder on a larger disk", c.o.Keep)
	}
	return roomMend(filepath.Dir(c.base.dir))
}

// roomMend is what helps when the folder that holds the run's has no room.
func roomMend(parent string) string {
	if parent == memoryFolder {
		return fmt.Sprintf("free space in %s, or use fewer --jobs", parent)
	}
	return fmt.Sprintf("free space in %s, use fewer --jobs, or set TMPDIR to a larger disk", parent)
}

// processesMend is what helps when no process or thread can be had; that the address
// space is too small for a thread's stack reads the same.
const processesMend = "no more processes or threads are allowed; raise the limit (ulimit -u or -v, or the container's on pids), or use fewer --jobs"

// withProcessesMend adds what helps when a helper cannot be forked.
func withProcessesMend(err error) error {
	if errors.Is(err, syscall.EAGAIN) {
		return fault.Environmentf("%w: %s", err, processesMend)
	}
	return err
}

// withThreadsMend adds what helps to the last words of a helper to which a thread was
// refused: those of the Go runtime, with cgo and without.
func withThreadsMend(words string) string {
	for _, refused := range []string{"pthread_create failed", "failed to create new OS thread"} {
		if strings.Contains(words, refused) {
			return words + ": " + processesMend
		}
	}
	return words
}
