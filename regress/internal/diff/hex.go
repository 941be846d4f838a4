package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/align"
	"muster/regress/internal/plaintext"
)

const rowBytes = 16

// Rows of context around a range that differs.
const (
	hexContext    = 1
	hexContextMax = 8 // in an excerpt
)

// alignedBytesMax is the size up to which contents of different lengths are aligned byte by byte.
// So an insertion does not look like a change of everything after it.
const alignedBytesMax = 4 << 20

// writeBytes writes the ranges in which two contents differ, in hex, each with rows of context before
// and after it.
func (s *sheet) writeBytes(old, now []byte, context int) {
	changes := byteChanges(old, now)
	if len(changes) == 0 {
		return
	}
	s.writeText(fmt.Sprintf("binary: %s → %s", readable.Count(len(old), "byte"), readable.Count(len(now), "byte")))
	shown := 0
	for i, c := range changes {
		if s.room == 0 {
			return
		}
		next := len(old)
		if i+1 < len(changes) {
			next = floor(changes[i+1].OldFrom)
		}
		s.writeText(fmt.Sprintf("@@ -%s +%s @@", byteRange(c.OldFrom, c.OldTo), byteRange(c.NowFrom, c.NowTo)))
		before, after := floor(c.OldFrom), ceil(c.OldTo)
		writeHexContext(s, old, max(shown, before-context*rowBytes), before)
		if len(old) == len(now) {
			s.writeHexPairs(old, now, before, after)
		} else {
			oldRows, nowRows := hexRows(c.OldFrom, c.OldTo), hexRows(c.NowFrom, c.NowTo)
			showOld, showNow := s.shares(oldRows, nowRows)
			s.writeHexRows('-', old, c.OldFrom, showOld)
			s.writeLeftOut(oldRows-showOld, "taken out")
			s.writeHexRows('+', now, c.NowFrom, showNow)
			s.writeLeftOut(nowRows-showNow, "put in")
		}
		shown = min(next, after+context*rowBytes)
		writeHexContext(s, old, after, shown)
	}
}

func writeHexContext(s *sheet, content []byte, from, to int) {
	for at := from; at < to; at += rowBytes {
		s.writeHexRow(' ', content, at)
	}
}

func floor(offset int) int { return offset &^ (rowBytes - 1) }
func ceil(offset int) int  { return floor(offset + rowBytes - 1) }

func byteRange(from, to int) string {
	return fmt.Sprintf("0x%x, %s", from, readable.Count(to-from, "byte"))
}

// byteChanges returns the ranges in which two contents differ, with close ranges joined.
func byteChanges(old, now []byte) []Change {
	head := plaintext.CommonPrefix(old, now)
	tail := plaintext.CommonSuffix(old[head:], now[head:])
	o, n := old[head:len(old)-tail], now[head:len(now)-tail]
	script := []Change{{OldTo: len(o), NowTo: len(n)}}
	switch {
	case len(old) == len(now):
		script = samePlaces(o, n)
	case min(len(o), len(n)) > 0 && max(len(o), len(n)) <= alignedBytesMax:
		script = compare(o, n)
	}
	var changes []Change
	for _, d := range script {
		c := Change{head + d.OldFrom, head + d.OldTo, head + d.NowFrom, head + d.NowTo}
		if k := len(changes); k > 0 && floor(c.OldFrom)-ceil(changes[k-1].OldTo) <= 2*rowBytes {
			changes[k-1].OldTo, changes[k-1].NowTo = c.OldTo, c.NowTo
			continue
		}
		changes = append(changes, c)
	}
	return changes
}

// samePlaces compares two contents of equal length at the same offsets.
func samePlaces(old, now []byte) (script []Change) {
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
		script = append(script, Change{from, to, from, to})
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

// hexRows counts the rows of a range. An empty range has the row where the other side's bytes were
// inserted or removed.
func hexRows(from, to int) int { return (ceil(to) - floor(from)) / rowBytes }

// writeHexRows writes n rows, from the one of an offset on.
func (s *sheet) writeHexRows(sign byte, content []byte, from, n int) {
	for i := range n {
		s.writeHexRow(sign, content, floor(from)+i*rowBytes)
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

const (
	stepsMost    = 500     // edits up to which the shortest script is found
	stepsLeast   = 1 << 20 // steps of a comparison, whatever the size
	stepsForEach = 16      // more steps, for each element
)

// compare returns the changes from old to now. One changed habit of a code generator makes many changes
// in every file. Beyond a bound, what is left is one change.
func compare[K comparable](old, now []K) []Change {
	aligner := align.Aligner[K]{Work: stepsLeast + stepsForEach*(len(old)+len(now))}
	var changes []Change
	for _, b := range aligner.Blocks(old, now, stepsMost) {
		changes = append(changes, Change{b.A0, b.A1, b.B0, b.B1})
	}
	return changes
}

// Append adds a change behind others, or extends the last one that it touches.
func Append(changes []Change, c Change) []Change {
	if n := len(changes); n > 0 && changes[n-1].OldTo == c.OldFrom && changes[n-1].NowTo == c.NowFrom {
		changes[n-1].OldTo, changes[n-1].NowTo = c.OldTo, c.NowTo
		return changes
	}
	return append(changes, c)
}
