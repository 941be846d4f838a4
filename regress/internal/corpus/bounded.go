package corpus

import (
	"context"
	"errors"
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// roomBytes is how much is written between two looks at the free space, which
// others use too.
const roomBytes = 64 << 20

// bounded writes to the spool within its limits. It is used by one goroutine.
type bounded struct {
	ctx     context.Context
	label   string
	dir     string
	limits  Limits
	w       io.Writer
	written int64
	checked int64 // written may reach this before the next look

	claims func(written int64) error // what the headers so far say; nil = known before
	due    int64                     // when claims is asked next
}

// claimsBytes is how much is written before the headers in it are looked at
// for the first time. Each later look is at twice as much as the one before.
const claimsBytes = 1 << 20

// classified marks an error that needs no more said, where it comes mixed with
// those that damaged input makes: a copy's writing side, a program's death.
type classified struct{ err error }

func (c *classified) Error() string { return c.err.Error() }
func (c *classified) Unwrap() error { return c.err }

func (b *bounded) Write(p []byte) (int, error) {
	if err := b.check(int64(len(p))); err != nil {
		return 0, &classified{err}
	}
	n, err := b.w.Write(p)
	b.written += int64(n)
	if err != nil {
		return n, &classified{spoolFault(b.label, b.dir, err)}
	}
	if b.claims != nil && b.written >= max(b.due, claimsBytes) {
		b.due = 2 * b.written
		if err := b.claims(b.written); err != nil {
			return n, &classified{err}
		}
	}
	return n, nil
}

func (b *bounded) check(more int64) error {
	if err := done(b.ctx, b.label); err != nil {
		return err
	}
	if b.written+more > b.limits.TotalBytes {
		return unpacksToMore(b.label, b.limits)
	}
	if b.written+more <= b.checked {
		return nil
	}
	free, err := freeBytes(b.dir)
	if err != nil {
		return spoolFault(b.label, b.dir, err)
	}
	step := max(more, roomBytes)
	if spare := free - b.limits.Reserve; spare < step {
		step = spare
	}
	if step < more {
		return fault.Environmentf("%s cannot be unpacked to %s: %s are free there, and %s must stay free; make room, or choose another folder by --state",
			b.label, name.Print(b.dir), sized(free), sized(b.limits.Reserve))
	}
	b.checked = b.written + step
	return nil
}

func unpacksToMore(label string, l Limits) error {
	return fault.Inputf("%s unpacks to more than %s, the limit; split it", label, sized(l.TotalBytes))
}

// freeBytes returns what the file system of a folder has for this user.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

func spoolFault(label, dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fault.Environmentf("%s cannot be unpacked to %s: %w; make room, or choose another folder by --state", label, name.Print(dir), fault.Reason(err))
	}
	return fault.Environmentf("%s cannot be unpacked to %s: %w; choose a folder that can be written, by --state", label, name.Print(dir), fault.Reason(err))
}
