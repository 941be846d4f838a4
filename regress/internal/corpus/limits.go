package corpus

import (
	"context"
	"errors"
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// The limits of a corpus, against small archives that claim or unpack to very much. They are far
// above the needs of a corpus of sources, and below what overloads a machine.
const (
	// EntriesMax counts every entry, also folders and overwritten ones. The index takes about 200
	// bytes for each, 460 at its peak with uncollected garbage: 2 GB for 4 Mi entries.
	EntriesMax = 4 << 20
	// EntryBytesMax is the size of one file. No compiler takes a larger source.
	EntryBytesMax = 64 << 30
	// TotalBytesMax bounds the sum of all sizes and of the spooled bytes. A link counts with the
	// size of its target.
	TotalBytesMax = 256 << 30
	// NameBytesMax bounds the sum of all names and link targets, which stay in memory: 4 Mi names
	// of 128 bytes.
	NameBytesMax = 512 << 20
	// ReserveBytes remain free on the spool's file system, for the lanes and the golden.
	ReserveBytes = 256 << 20
)

// Limits overrides the constants above, in their units. A zero field keeps the default.
type Limits struct {
	Entries    int
	EntryBytes int64
	TotalBytes int64
	NameBytes  int64
	Reserve    int64
}

func (l Limits) withDefaults() Limits {
	set := func(field *int64, value int64) {
		if *field <= 0 {
			*field = value
		}
	}
	if l.Entries <= 0 {
		l.Entries = EntriesMax
	}
	set(&l.EntryBytes, EntryBytesMax)
	set(&l.TotalBytes, TotalBytesMax)
	set(&l.NameBytes, NameBytesMax)
	set(&l.Reserve, ReserveBytes)
	return l
}

// A meter counts the entries of a corpus against the limits.
type meter struct {
	label     string
	limits    Limits
	entries   int
	nameBytes int64
	beyond    error // the limit that was exceeded
}

// count counts one more entry before it is stored. The strings are those that would stay in memory.
func (m *meter) count(size int64, entry, target string) error {
	m.beyond = m.check(size, entry, target)
	return m.beyond
}

func (m *meter) check(size int64, entry, target string) error {
	m.entries++
	m.nameBytes += int64(len(entry)) + int64(len(target))
	switch {
	case m.entries > m.limits.Entries:
		return fault.Inputf("%s has more than %s entries, the limit, at %s; split it", m.label, readable.Number(m.limits.Entries), name.Print(entry))
	case m.nameBytes > m.limits.NameBytes:
		return fault.Inputf("%s has names of more than %s together, the limit, at %s; split it", m.label, readable.BinarySize(m.limits.NameBytes), name.Print(entry))
	case size > m.limits.EntryBytes:
		return fault.Inputf("%s: entry %s claims %s, more than the limit of %s; leave it out", m.label, name.Print(entry), readable.BinarySize(size), readable.BinarySize(m.limits.EntryBytes))
	}
	return nil
}

// roomBytes is how much is written between two checks of the free space, which other processes use
// too.
const roomBytes = 64 << 20

// A boundedWriter writes to the spool within its limits. Only one goroutine may use it.
type boundedWriter struct {
	ctx     context.Context
	label   string
	dir     string
	limits  Limits
	w       io.Writer
	written int64
	checked int64 // the next check comes when written exceeds it

	claims func(written int64) error // checks the headers so far; nil = already checked
	due    int64                     // written bytes at the next call of claims
}

// claimsBytes is how much is written before the first check of the headers in it. Each check is at
// twice the size of the one before.
const claimsBytes = 1 << 20

// A finalError already has its class and its text. It comes from a copy's writing side or from the
// end of a program, mixed with errors of damaged input.
type finalError struct{ err error }

func (c *finalError) Error() string { return c.err.Error() }
func (c *finalError) Unwrap() error { return c.err }

func (b *boundedWriter) Write(p []byte) (int, error) {
	if err := b.check(int64(len(p))); err != nil {
		return 0, &finalError{err}
	}
	n, err := b.w.Write(p)
	b.written += int64(n)
	if err != nil {
		return n, &finalError{spoolError(b.label, b.dir, err)}
	}
	if b.claims != nil && b.written >= max(b.due, claimsBytes) {
		b.due = 2 * b.written
		if err := b.claims(b.written); err != nil {
			return n, &finalError{err}
		}
	}
	return n, nil
}

func (b *boundedWriter) check(more int64) error {
	if err := stopError(b.ctx, b.label); err != nil {
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
		return spoolError(b.label, b.dir, err)
	}
	step := max(more, roomBytes)
	if spare := free - b.limits.Reserve; spare < step {
		step = spare
	}
	if step < more {
		return fault.Environmentf("%s cannot be unpacked to %s: %s are free there, and %s must stay free; make room, or choose another folder by --state",
			b.label, name.Print(b.dir), readable.BinarySize(free), readable.BinarySize(b.limits.Reserve))
	}
	b.checked = b.written + step
	return nil
}

func unpacksToMore(label string, l Limits) error {
	return fault.Inputf("%s unpacks to more than %s, the limit; split it", label, readable.BinarySize(l.TotalBytes))
}

// freeBytes returns the free space of a folder's file system for this user.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

func spoolError(label, dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fault.Environmentf("%s cannot be unpacked to %s: %w; make room, or choose another folder by --state", label, name.Print(dir), fault.Reason(err))
	}
	return fault.Environmentf("%s cannot be unpacked to %s: %w; choose a folder that can be written, by --state", label, name.Print(dir), fault.Reason(err))
}
