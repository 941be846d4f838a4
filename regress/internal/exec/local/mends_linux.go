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

// errFull reports that a lane's file system has no room, and what helps.
type errFull struct{ text, mend string }

func (e *errFull) Error() string { return e.text + "; " + e.mend }

// helperFault returns the error for a fault that a helper reported.
func (c *Crew) helperFault(text string, changed, full bool) error {
	text = name.Print(text)
	switch {
	case changed:
		return fault.Inputf("%s; run again when nothing writes there", text)
	case full:
		return fault.Environmentf("%w", &errFull{text, c.roomMend()})
	}
	return fault.Environmentf("%s", text)
}

// withRoomMend adds what helps to an error of this process, if it means that there is no room.
func (c *Crew) withRoomMend(err error) error { return withMend(err, c.roomMend()) }

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

// roomMend says what helps if the folder that contains the run's folder has no room.
func roomMend(parent string) string {
	if parent == memoryFolder {
		return fmt.Sprintf("free space in %s, or use fewer --jobs", parent)
	}
	return fmt.Sprintf("free space in %s, use fewer --jobs, or set TMPDIR to a larger disk", parent)
}

// processesMend says what helps if no process or thread can be started. The error is the same
// if the address space is too small for a thread's stack.
const processesMend = "no more processes or threads are allowed; raise the limit (ulimit -u or -v, or the container's on pids), or use fewer --jobs"

// withProcessesMend adds what helps if a helper cannot be forked.
func withProcessesMend(err error) error {
	if errors.Is(err, syscall.EAGAIN) {
		return fault.Environmentf("%w: %s", err, processesMend)
	}
	return err
}

// withThreadsMend adds what helps if the last words of a helper are those of the Go runtime
// without a thread, with cgo or without.
func withThreadsMend(words string) string {
	for _, refused := range []string{"pthread_create failed", "failed to create new OS thread"} {
		if strings.Contains(words, refused) {
			return words + ": " + processesMend
		}
	}
	return words
}
