package diff

import (
	"bufio"
	"strings"
)

// Binary guesses whether people prefer hex for a content.
func Binary(content []byte) bool { return isBinary(content) }

// Hex returns the differences of two contents as rows of hex within the limits.
func Hex(old, now []byte, l Limits) string {
	var b strings.Builder
	s := &sheet{w: bufio.NewWriter(&b), paint: func(line string) string { return line }, room: l.withDefaults().Lines}
	s.writeBytes(old, now)
	s.w.Flush() // a strings.Builder takes everything
	return b.String()
}

// Changes returns the changes between two texts, in whole lines and in order. Texts of very many
// lines have one change, from the first difference to the last.
func Changes(old, now []byte) []Change {
	e := newExcerpt(old, now, 0)
	if len(e.old) == 0 && len(e.now) == 0 {
		return nil
	}
	head := headOf(old, now)
	if CountLines(e.old)+CountLines(e.now) > comparedLinesMax {
		return []Change{{head, head + len(e.old), head, head + len(e.now)}}
	}
	a, b := splitLines(e.old), splitLines(e.now)
	var changes []Change
	var at change // lines
	from, nowFrom := head, head
	for _, c := range compareLines(a, b) {
		from += bytesOf(a[at.oldTo:c.oldFrom])
		nowFrom += bytesOf(b[at.nowTo:c.nowFrom])
		to, nowTo := from+bytesOf(a[c.oldFrom:c.oldTo]), nowFrom+bytesOf(b[c.nowFrom:c.nowTo])
		changes = append(changes, Change{from, to, nowFrom, nowTo})
		at, from, nowFrom = c, to, nowTo
	}
	return changes
}

// headOf returns the length in bytes of the equal lines at the start of both texts.
func headOf(old, now []byte) int { return LineStart(old, commonPrefix(old, now)) }

func bytesOf(lines []string) (n int) {
	for _, line := range lines {
		n += len(line)
	}
	return n
}
