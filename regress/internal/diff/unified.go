// Package diff shows how two contents differ: as a unified diff of texts, and in hex for other
// contents. Diffs are bounded in time, memory and length. It is pure, and must not know whose
// contents they are.
package diff

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"muster/internal/readable"
)

// Limits bound a diff. A zero field means its default.
type Limits struct {
	Lines   int // of the diff, 12; at least 4. Remarks ("… 5 more lines put in") come on top
	Columns int // of a line, 200; the rest is given in bytes
	Context int // equal lines around a change, 3
}

func (l Limits) withDefaults() Limits {
	if l.Lines == 0 {
		l.Lines = 12
	}
	if l.Columns == 0 {
		l.Columns = 200
	}
	if l.Context == 0 {
		l.Context = 3
	}
	l.Lines = max(l.Lines, 4)
	return l
}

// Unified returns a unified diff of two texts within the limits, and the number of lines of the
// whole diff that it leaves out. Its output cannot control a terminal. If a content is not text,
// binary is true and there is no diff.
//
// Time and memory are bounded. The equal head and tail are never split into lines. If the rest is
// too large to compare, the diff reports that and shows where the difference begins.
func Unified(old, now []byte, l Limits) (text string, hidden int, binary bool) {
	if isBinary(old) || isBinary(now) {
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
func Full(w io.Writer, old, now []byte, colour bool) error {
	s := newSheet(w, math.MaxInt, math.MaxInt, colour)
	if isBinary(old) || isBinary(now) {
		s.writeBytes(old, now)
	} else {
		s.writeTexts(old, now, Limits{}.withDefaults().Context)
	}
	return s.w.Flush()
}

// FullMarked is Full in colour. In changed lines it marks what the edits replace.
func FullMarked(w io.Writer, old, now []byte, edits []Change) error {
	s := newSheet(w, math.MaxInt, math.MaxInt, true)
	if isBinary(old) || isBinary(now) {
		s.writeBytes(old, now)
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
	if r.endsText() {
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
	if n := CountLines(e.old) + CountLines(e.now); n > comparedLinesMax {
		return s.writeUncompared(old, now)
	}
	oldLines, nowLines := splitLines(e.old), splitLines(e.now)
	s.oldMarks, s.nowMarks = newMarkers(s.edits, e.start, e.start)
	full := false
	for _, h := range hunks(compareLines(oldLines, nowLines), context, len(oldLines)) {
		total += h.rows(oldLines, nowLines)
		// A hunk is not begun without room for its changes.
		lead := h.changes[0].oldFrom - h.oldFrom
		if full = full || s.shown > 0 && s.room < lead+3; !full {
			s.writeText(h.header(e.before))
			s.writeHunk(h, oldLines, nowLines)
		}
	}
	return total
}

// rows counts the lines of h in a whole diff.
func (h hunk) rows(old, now []string) int {
	n := 1 + h.oldTo - h.oldFrom
	for _, c := range h.changes {
		n += c.nowTo - c.nowFrom
		n += lacksNewline(old[c.oldFrom:c.oldTo]) + lacksNewline(now[c.nowFrom:c.nowTo])
	}
	last := h.changes[len(h.changes)-1]
	return n + lacksNewline(old[last.oldTo:h.oldTo])
}

func lacksNewline(lines []string) int {
	if len(lines) > 0 && !strings.HasSuffix(lines[len(lines)-1], "\n") {
		return 1
	}
	return 0
}

func (s *sheet) writeHunk(h hunk, old, now []string) {
	at := h.oldFrom
	for _, c := range h.changes {
		s.writeContext(old[at:c.oldFrom])
		was, is := rowPairs(old[c.oldFrom:c.oldTo], now[c.nowFrom:c.nowTo], s.columns)
		s.oldMarks.mark(was, old, c.oldFrom)
		s.nowMarks.mark(is, now, c.nowFrom)
		s.writeBlock(was, is)
		at = c.oldTo
	}
	s.writeContext(old[at:h.oldTo])
}

func (s *sheet) writeContext(lines []string) {
	for _, line := range lines {
		s.writeRow(row{sign: ' ', line: line})
	}
}

// writeBlock writes replaced lines and their replacement. Without room for all, both sides get a share,
// because one side alone shows little.
func (s *sheet) writeBlock(old, now []row) {
	if s.room == 0 {
		return
	}
	showOld, showNow := len(old), len(now)
	if s.room < len(old)+len(now) {
		showOld = min(len(old), max((s.room+1)/2, s.room-len(now)))
		showNow = min(len(now), s.room-showOld)
	}
	for _, r := range old[:showOld] {
		s.writeRow(r)
	}
	if left := len(old) - showOld; left > 0 {
		s.writeRemark("%s taken out", readable.Count(left, "more line"))
	}
	for _, r := range now[:showNow] {
		s.writeRow(r)
	}
	if left := len(now) - showNow; left > 0 {
		s.writeRemark("%s put in", readable.Count(left, "more line"))
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
	return was, is
}

// writeUncompared writes the result of a comparison without lines: the smallest range outside which both
// texts are equal, as one replacement.
func (s *sheet) writeUncompared(old, now []byte) (total int) {
	e := newExcerpt(old, now, 0)
	oldLines, nowLines := CountLines(e.old), CountLines(e.now)
	s.writeRemark("too large for a diff: all that differs lies within %s lines, the first is line %s",
		readable.Number(max(oldLines, nowLines)), readable.Number(e.before+1))
	all := change{0, oldLines, 0, nowLines}
	s.writeText(all.header(e.before))
	shareOld := min(oldLines, max((s.room+1)/2, s.room-nowLines))
	s.writeLines('-', e.old, shareOld)
	if left := oldLines - shareOld; left > 0 {
		s.writeRemark("%s taken out", readable.Count(left, "more line"))
	}
	shareNow := min(nowLines, s.room)
	s.writeLines('+', e.now, shareNow)
	if left := nowLines - shareNow; left > 0 {
		s.writeRemark("%s put in", readable.Count(left, "more line"))
	}
	return 1 + oldLines + nowLines + endsText(e.old) + endsText(e.now)
}

func endsText(text []byte) int {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return 1
	}
	return 0
}

// writeLines writes the first n lines of text without splitting all of it.
func (s *sheet) writeLines(sign byte, text []byte, n int) {
	for ; n > 0 && s.room > 0; n-- {
		end := len(text)
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			end = i + 1
		}
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
