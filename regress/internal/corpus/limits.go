package corpus

import (
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
	// EntryBytesMax is the size of one file. No compiler takes a larger source, and a hole of a
	// sparse file costs nothing in the archive.
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
