package diff

import (
	"bytes"
	"strings"
)

// A Change is one place in which two contents differ: ranges of bytes.
type Change struct{ OldFrom, OldTo, NowFrom, NowTo int }

// Bounds of an excerpt.
const (
	excerptLines   = 14
	excerptContext = 2
	excerptColumns = 160
)

// Excerpt shows the lines of one change with a few around it, as a unified diff
// without its heading; nothing when the change is not within both contents, or one of
// them is no text.
func Excerpt(old, now []byte, c Change) string {
	if c.OldFrom > c.OldTo || c.OldTo > len(old) || c.NowFrom > c.NowTo || c.NowTo > len(now) || isBinary(old) || isBinary(now) {
		return ""
	}
	from, nowFrom := LineStart(old, c.OldFrom), LineStart(now, c.NowFrom)
	to, nowTo := c.OldTo, c.NowTo
	if to != LineStart(old, to) || nowTo != LineStart(now, nowTo) {
		to, nowTo = LineEnd(old, to), LineEnd(now, nowTo)
	}
	out := &strings.Builder{}
	s := newSheet(out, excerptLines, excerptColumns, false)
	s.context(linesBefore(old[:from], excerptContext))
	s.block(splitLines(old[from:to]), splitLines(now[nowFrom:nowTo]))
	s.context(linesAfter(old[to:], excerptContext))
	s.w.Flush() // a strings.Builder takes everything
	return out.String()
}

// LineStart returns where the line that at is in begins.
func LineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// LineEnd returns where the line that at is in ends, its newline included.
func LineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// linesBefore returns the last n lines of a text that ends with a newline.
func linesBefore(text []byte, n int) []string {
	from := len(text)
	for ; n > 0 && from > 0; n-- {
		from = LineStart(text, from-1)
	}
	return splitLines(text[from:])
}

func linesAfter(text []byte, n int) []string {
	to := 0
	for ; n > 0 && to < len(text); n-- {
		to = LineEnd(text, to)
	}
	return splitLines(text[:to])
}
