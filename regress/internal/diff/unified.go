// Package diff shows how two contents differ: as a unified diff of texts, and in hex for other
// contents. Diffs are bounded in time, memory and length. It is pure, and must not know whose
// contents they are.
package diff

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/lookalike"
	"muster/regress/internal/plaintext"
)

// Limits bound a diff. A zero field means its default.
type Limits struct {
	Lines   int // of the diff, 12; at least 4. Remarks ("… 5 more lines put in") come on top
	Columns int // of a line, 200; the rest is given in bytes
	Context int // equal lines around a change, 3
}

func (l Limits) withDefaults() Limits {
	return Limits{max(4, cmp.Or(l.Lines, 12)), cmp.Or(l.Columns, 200), cmp.Or(l.Context, 3)}
}

// Unified returns a unified diff of two texts within the limits, and the number of lines of the
// whole diff that it leaves out. Its output cannot control a terminal. If a content is not text,
// binary is true and there is no diff.
//
// Time and memory are bounded. The equal head and tail are never split into lines. If the rest is
// too large to compare, the diff reports that and shows where the difference begins.
func Unified(old, now []byte, l Limits) (text string, hidden int, binary bool) {
	if !plaintext.Is(old) || !plaintext.Is(now) {
		return "", 0, true
	}
	l = l.withDefaults()
	var b strings.Builder
	s := newSheet(&b, l.Lines, l.Columns, false)
	total := s.writeTexts(old, now, l.Context)
	s.w.Flush() // a strings.Builder takes everything
	return b.String(), total - s.shown, false
}

// Full writes the whole diff of two contents, in hex if they are not text.
func Full(w io.Writer, old, now []byte, colour bool) error { return full(w, old, now, nil, colour) }

// FullMarked is Full in colour. In changed lines it marks what the edits replace.
func FullMarked(w io.Writer, old, now []byte, edits []Change) error {
	return full(w, old, now, edits, true)
}

func full(w io.Writer, old, now []byte, edits []Change, colour bool) error {
	s := newSheet(w, math.MaxInt, math.MaxInt, colour)
	if !plaintext.Is(old) || !plaintext.Is(now) {
		s.writeBytes(old, now, hexContext)
	} else {
		s.edits = edits
		s.writeTexts(old, now, Limits{}.withDefaults().Context)
	}
	return s.w.Flush()
}

// A sheet accepts the rows of a diff while it has room. Write errors stay in w until it is flushed.
type sheet struct {
	w       *bufio.Writer
	paint   func(line string) string
	room    int
	shown   int // rows written, remarks not counted
	columns int
	edits   []Change // to mark

	oldMarks, nowMarks marker
}

func newSheet(w io.Writer, room, columns int, colour bool) *sheet {
	s := &sheet{w: bufio.NewWriter(w), room: room, columns: columns, paint: func(line string) string { return line }}
	if colour {
		s.paint = Colour
	}
	return s
}

func (s *sheet) writeRemark(format string, args ...any) {
	fmt.Fprintln(s.w, s.paint("… "+fmt.Sprintf(format, args...)))
}

func (s *sheet) writeText(line string) {
	if s.room > 0 {
		fmt.Fprintln(s.w, s.paint(line))
		s.room--
		s.shown++
	}
}

// writeRow writes r. If the text ends there without a newline, a remark follows.
func (s *sheet) writeRow(r row) {
	if s.room == 0 {
		return
	}
	r.columns = s.columns
	s.writeText(r.String())
	if !strings.HasSuffix(r.line, "\n") {
		fmt.Fprintln(s.w, s.paint(noNewline))
		s.shown++
	}
}

// comparedLinesMax is the number of differing lines, on both sides together, up to which they are
// compared. A comparison takes about 100 bytes a line.
const comparedLinesMax = 2 << 20

// writeTexts writes the diff of two texts and returns the number of rows of the whole diff.
func (s *sheet) writeTexts(old, now []byte, context int) (total int) {
	e := newExcerpt(old, now, context)
	if n := plaintext.CountLines(e.old) + plaintext.CountLines(e.now); n > comparedLinesMax {
		return s.writeUncompared(old, now)
	}
	oldLines, nowLines := plaintext.SplitLines(e.old), plaintext.SplitLines(e.now)
	s.oldMarks, s.nowMarks = newMarkers(s.edits, e.start, e.start)
	full := false
	for _, h := range hunks(compare(oldLines, nowLines), context, len(oldLines)) {
		total += h.rows(oldLines, nowLines)
		// A hunk is not begun without room for its changes.
		lead := h.changes[0].OldFrom - h.OldFrom
		if full = full || s.shown > 0 && s.room < lead+3; !full {
			s.writeText(h.header(e.before, e.before))
			s.writeHunk(h, oldLines, nowLines)
		}
	}
	return total
}

// rows counts the lines of h in a whole diff.
func (h hunk) rows(old, now []string) int {
	n := 1 + h.OldTo - h.OldFrom
	for _, c := range h.changes {
		n += c.NowTo - c.NowFrom
		n += lacksNewline(lastOf(old[c.OldFrom:c.OldTo])) + lacksNewline(lastOf(now[c.NowFrom:c.NowTo]))
	}
	last := h.changes[len(h.changes)-1]
	return n + lacksNewline(lastOf(old[last.OldTo:h.OldTo]))
}

// lacksNewline returns 1 if the last line of a text has no newline, else 0.
func lacksNewline[T []byte | string](text T) int {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return 1
	}
	return 0
}

func lastOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

func (s *sheet) writeHunk(h hunk, old, now []string) {
	at := h.OldFrom
	for _, c := range h.changes {
		s.writeContext(old[at:c.OldFrom])
		was, is := rowPairs(old[c.OldFrom:c.OldTo], now[c.NowFrom:c.NowTo], s.columns)
		s.oldMarks.mark(was, old, c.OldFrom)
		s.nowMarks.mark(is, now, c.NowFrom)
		s.writeBlock(was, is)
		at = c.OldTo
	}
	s.writeContext(old[at:h.OldTo])
}

func (s *sheet) writeContext(lines []string) {
	for _, line := range lines {
		s.writeRow(row{sign: ' ', line: line})
	}
}

// writeBlock writes replaced lines and their replacement.
func (s *sheet) writeBlock(old, now []row) {
	if s.room == 0 {
		return
	}
	showOld, showNow := s.shares(len(old), len(now))
	for _, r := range old[:showOld] {
		s.writeRow(r)
	}
	s.writeLeftOut(len(old)-showOld, "taken out")
	for _, r := range now[:showNow] {
		s.writeRow(r)
	}
	s.writeLeftOut(len(now)-showNow, "put in")
}

// shares returns how many lines of a block are written. Without room for all, both sides get a share,
// because one side alone shows little.
func (s *sheet) shares(old, now int) (showOld, showNow int) {
	showOld = min(old, max((s.room+1)/2, s.room-now))
	return showOld, min(now, s.room-showOld)
}

func (s *sheet) writeLeftOut(lines int, what string) {
	if lines > 0 {
		s.writeRemark("%s %s", readable.Count(lines, "more line"), what)
	}
}

// rowPairs returns the rows of replaced lines and of their replacement.
func rowPairs(old, now []string, columns int) (was, is []row) {
	for i, line := range old {
		r := row{sign: '-', line: line}
		if i < len(now) {
			r, _ = pairRows(line, now[i], columns)
		}
		was = append(was, r)
	}
	for i, line := range now {
		r := row{sign: '+', line: line}
		if i < len(old) {
			_, r = pairRows(old[i], line, columns)
		}
		is = append(is, r)
	}
	if bytesOf(old)+bytesOf(now) <= lookalike.BytesMax {
		inOld, inNow := lookalike.Find(strings.Join(old, ""), strings.Join(now, ""))
		setAlike(was, inOld)
		setAlike(is, inNow)
	}
	return was, is
}

func setAlike(rows []row, alike map[int]bool) {
	start := 0
	for i := range rows {
		rows[i].alike, rows[i].start = alike, start
		start += len(rows[i].line)
	}
}

// writeUncompared writes the result of a comparison without lines: the smallest range outside which both
// texts are equal, as one replacement.
func (s *sheet) writeUncompared(old, now []byte) (total int) {
	e := newExcerpt(old, now, 0)
	oldLines, nowLines := plaintext.CountLines(e.old), plaintext.CountLines(e.now)
	s.writeRemark("too large for a diff: all that differs lies within %s lines, the first is line %s",
		readable.Number(max(oldLines, nowLines)), readable.Number(e.before+1))
	all := Change{0, oldLines, 0, nowLines}
	s.writeText(all.header(e.before, e.before))
	showOld, showNow := s.shares(oldLines, nowLines)
	s.writeLines('-', e.old, showOld)
	s.writeLeftOut(oldLines-showOld, "taken out")
	s.writeLines('+', e.now, showNow)
	s.writeLeftOut(nowLines-showNow, "put in")
	return 1 + oldLines + nowLines + lacksNewline(e.old) + lacksNewline(e.now)
}

// writeLines writes the first n lines of text without splitting all of it.
func (s *sheet) writeLines(sign byte, text []byte, n int) {
	for ; n > 0 && s.room > 0; n-- {
		end := plaintext.LineEnd(text, 0)
		s.writeRow(row{sign: sign, line: string(text[:end])})
		text = text[end:]
	}
}

// Rows counts the lines of a diff without remarks.
func Rows(diff string) (n int) {
	for line := range strings.Lines(diff) {
		if !strings.HasPrefix(line, "…") {
			n++
		}
	}
	return n
}
