package golden

import (
	"sort"
	"strings"
	"time"

	"muster/regress/internal/outcome"
)

// An index is what memory holds of each case: all that a check needs to recognise an identical
// outcome. It has few pointers, so the garbage collector need not look at a million cases.
type index struct {
	entries []entry          // by name
	names   strings.Builder  // of all entries, one after another
	sources []outcome.Digest // of all entries; nil once they are dropped
}

type entry struct {
	digest outcome.Digest
	wall   time.Duration
	sum    uint64 // of the row; Get compares it
	end    int    // of the name in index.names
	origin int32
	flaky  bool
}

// grow makes room for a number of cases. Growing with each case would take several times the memory.
func (x *index) grow(cases int, nameBytes int64) {
	x.entries, x.sources = make([]entry, 0, cases), make([]outcome.Digest, 0, cases)
	x.names.Grow(int(nameBytes))
}

// add appends the next case.
func (x *index) add(caseName []byte, source outcome.Digest, e entry) {
	x.names.Write(caseName)
	e.end = x.names.Len()
	x.entries, x.sources = append(x.entries, e), append(x.sources, source)
}

// name returns the name of the i-th case.
func (x *index) name(i int) string {
	start := 0
	if i > 0 {
		start = x.entries[i-1].end
	}
	return x.names.String()[start:x.entries[i].end]
}

// find returns the number and the entry of a case, or a zero entry.
func (x *index) find(caseName string) (i int, e entry, ok bool) {
	i, ok = sort.Find(len(x.entries), func(i int) int { return strings.Compare(caseName, x.name(i)) })
	if ok {
		e = x.entries[i]
	}
	return i, e, ok
}
