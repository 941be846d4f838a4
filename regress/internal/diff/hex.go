package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"muster/internal/readable"
	"muster/regress/internal/anchor"
)

const rowBytes = 16

// alignedBytesMax is the size up to which contents of different lengths are aligned byte by byte.
// So an insertion does not look like a change of everything after it.
const alignedBytesMax = 4 << 20

// writeBytes writes the ranges in which two contents differ, in hex, each with a row of context before
// and after it.
func (s *sheet) writeBytes(old, now []byte) {
	changes := byteChanges(old, now)
	if len(changes) == 0 {
		return
	}
	s.writeText(fmt.Sprintf("binary: %s → %s", readable.Count(len(old), "byte"), readable.Count(len(now), "byte")))
	for _, c := range changes {
		s.writeText(fmt.Sprintf("@@ -%s +%s @@", byteRange(c.OldFrom, c.OldTo), byteRange(c.NowFrom, c.NowTo)))
		before, after := floor(c.OldFrom), ceil(c.OldTo)
		s.writeHexRow(' ', old, before-rowBytes)
		if len(old) == len(now) {
			s.writeHexPairs(old, now, before, after)
		} else {
			s.writeHexRows('-', old, c.OldFrom, c.OldTo)
			s.writeHexRows('+', now, c.NowFrom, c.NowTo)
		}
		s.writeHexRow(' ', old, after)
	}
}

func floor(offset int) int { return offset &^ (rowBytes - 1) }
func ceil(offset int) int  { return floor(offset + rowBytes - 1) }

func byteRange(from, to int) string {
	return fmt.Sprintf("0x%x,%s", from, readable.Count(to-from, "byte"))
}

// byteChanges returns the ranges in which two contents differ, with close ranges joined.
func byteChanges(old, now []byte) []Change {
	head := CommonPrefix(old, now)
	tail := CommonSuffix(old[head:], now[head:])
	o, n := old[head:len(old)-tail], now[head:len(now)-tail]
	script := []lcs.Diff{{End: len(o), ReplEnd: len(n)}}
	switch {
	case len(old) == len(now):
		script = samePlaces(o, n)
	case min(len(o), len(n)) > 0 && max(len(o), len(n)) <= alignedBytesMax:
		script = lcs.DiffBytes(o, n)
	}
	var changes []Change
	for _, d := range script {
		c := Change{head + d.Start, head + d.End, head + d.ReplStart, head + d.ReplEnd}
		if k := len(changes); k > 0 && floor(c.OldFrom)-ceil(changes[k-1].OldTo) <= 2*rowBytes {
			changes[k-1].OldTo, changes[k-1].NowTo = c.OldTo, c.NowTo
			continue
		}
		changes = append(changes, c)
	}
	return changes
}

// samePlaces compares two contents of equal length at the same offsets.
func samePlaces(old, now []byte) (script []lcs.Diff) {
	for from := 0; from < len(old); from += rowBytes {
		to := min(from+rowBytes, len(old))
		if bytes.Equal(old[from:to], now[from:to]) {
			continue
		}
		for old[from] == now[from] {
			from++
		}
		for old[to-1] == now[to-1] {
			to--
		}
		script = append(script, lcs.Diff{Start: from, End: to, ReplStart: from, ReplEnd: to})
		from = to - rowBytes
	}
	return script
}

// writeHexPairs writes each row that differs directly above its new form.
func (s *sheet) writeHexPairs(old, now []byte, from, to int) {
	for at := from; at < min(to, len(old)); at += rowBytes {
		end := min(at+rowBytes, len(old))
		if slices.Equal(old[at:end], now[at:end]) {
			s.writeHexRow(' ', old, at)
			continue
		}
		s.writeHexRow('-', old, at)
		s.writeHexRow('+', now, at)
	}
}

// writeHexRows writes the rows of a range. For an empty range it writes the row where the other side's
// bytes were inserted or removed.
func (s *sheet) writeHexRows(sign byte, content []byte, from, to int) {
	for at := floor(from); at < max(to, ceil(from)); at += rowBytes {
		s.writeHexRow(sign, content, at)
	}
}

// writeHexRow writes the row at an offset as hexdump -C does. Beyond the content it writes nothing.
func (s *sheet) writeHexRow(sign byte, content []byte, at int) {
	if at < 0 || at >= len(content) {
		return
	}
	var hex, text strings.Builder
	for i, c := range content[at:min(at+rowBytes, len(content))] {
		if i == rowBytes/2 {
			hex.WriteByte(' ')
		}
		fmt.Fprintf(&hex, "%02x ", c)
		if c < ' ' || c >= 0x7f {
			c = '.'
		}
		text.WriteByte(c)
	}
	s.writeText(fmt.Sprintf("%c%08x  %-49s |%s|", sign, at, hex.String(), text.String()))
}

// exactEdits is the number of inserted and deleted lines up to which lcs finds the shortest script.
// Beyond it lcs gives up, and the rest becomes one large replacement.
const exactEdits = 100

// anchorLevels is the number of levels of anchors. Each level searches the gaps between the anchors
// of the level above.
const anchorLevels = 8

// A matcher collects the changes from old to now, in order.
type matcher struct {
	old, now []string
	changes  []Change
}

// compareLines returns the changes from old to now. lcs alone is exact and cheap for few changes.
// With many, anchors guide it: lines that each side has exactly once. One changed habit of a code
// generator makes many changes in every file.
func compareLines(old, now []string) []Change {
	m := matcher{old: old, now: now}
	m.match(Change{0, len(old), 0, len(now)}, anchorLevels)
	return m.changes
}

// match collects the changes within the region r.
func (m *matcher) match(r Change, levels int) {
	r = m.shrink(r)
	if r.OldFrom == r.OldTo || r.NowFrom == r.NowTo {
		m.add(r)
		return
	}
	script := lcs.DiffLines(m.old[r.OldFrom:r.OldTo], m.now[r.NowFrom:r.NowTo])
	var anchors []anchor.Pair
	if levels > 0 && countEdits(script) > exactEdits {
		anchors = anchor.Between(m.old[r.OldFrom:r.OldTo], m.now[r.NowFrom:r.NowTo])
	}
	if len(anchors) == 0 {
		for _, d := range script {
			m.add(Change{r.OldFrom + d.Start, r.OldFrom + d.End, r.NowFrom + d.ReplStart, r.NowFrom + d.ReplEnd})
		}
		return
	}
	next := r
	for _, a := range anchors {
		next.OldTo, next.NowTo = r.OldFrom+a.Old, r.NowFrom+a.Now
		m.match(next, levels-1)
		next.OldFrom, next.NowFrom = next.OldTo+1, next.NowTo+1
	}
	next.OldTo, next.NowTo = r.OldTo, r.NowTo
	m.match(next, levels-1)
}

func countEdits(script []lcs.Diff) (n int) {
	for _, d := range script {
		n += d.End - d.Start + d.ReplEnd - d.ReplStart
	}
	return n
}

// shrink removes equal lines from both ends of a region.
func (m *matcher) shrink(r Change) Change {
	for r.OldFrom < r.OldTo && r.NowFrom < r.NowTo && m.old[r.OldFrom] == m.now[r.NowFrom] {
		r.OldFrom++
		r.NowFrom++
	}
	for r.OldFrom < r.OldTo && r.NowFrom < r.NowTo && m.old[r.OldTo-1] == m.now[r.NowTo-1] {
		r.OldTo--
		r.NowTo--
	}
	return r
}

func (m *matcher) add(c Change) {
	if c.size() > 0 {
		m.changes = Append(m.changes, c)
	}
}

// Append adds a change behind others, or extends the last one that it touches.
func Append(changes []Change, c Change) []Change {
	if n := len(changes); n > 0 && changes[n-1].OldTo == c.OldFrom && changes[n-1].NowTo == c.NowFrom {
		changes[n-1].OldTo, changes[n-1].NowTo = c.OldTo, c.NowTo
		return changes
	}
	return append(changes, c)
}
