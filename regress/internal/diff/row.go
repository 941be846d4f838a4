package diff

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"muster/internal/readable"
	"muster/regress/internal/lookalike"
	"muster/regress/internal/palette"
	"muster/regress/internal/plaintext"
)

// A row is one line of a text with its layout in a diff.
type row struct {
	sign    byte   // ' ', '-' or '+'
	line    string // with its newline, if it has one
	from    int    // bytes at its start to leave out
	columns int    // the most to show
	mark    bool   // show every space and tab, because only they changed
	marked  []segment
	alike   map[int]bool // where in its block characters print as others do
	start   int          // of the line in its block
}

// noNewline is printed after a last line that lacks its newline.
const noNewline = `\ No newline at end of file`

// String returns the row without a newline. It does not mark a carriage return at the end of a
// context line: both sides have it.
func (r row) String() string {
	text := strings.TrimSuffix(r.line, "\n")
	if r.sign == ' ' {
		text = strings.TrimSuffix(text, "\r")
	}
	trailing := len(strings.TrimRight(text, " \t\r"))
	var b strings.Builder
	b.WriteByte(r.sign)
	if r.from > 0 {
		b.WriteString("+" + readable.Count(r.from, "byte") + " … ")
	}
	width := &runewidth.Condition{StrictEmojiNeutral: true}
	on := false
	turn := func(to bool) {
		if to && !on {
			b.WriteString(palette.Mark.Start())
		} else if on && !to {
			b.WriteString(palette.Unmark.Start())
		}
		on = to
	}
	for i, used := r.from, 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		shown := r.printedForm(c, text[i:i+size], r.sign != ' ' && i >= trailing)
		if r.alike[r.start+i] {
			shown = lookalike.CodePoint(c)
		}
		if used += columnsOf(width, c, shown); used > r.columns {
			turn(false)
			b.WriteString(" … +" + readable.Count(len(text)-i, "byte"))
			break
		}
		turn(r.isMarked(i))
		b.WriteString(shown)
		i += size
	}
	turn(false)
	return b.String()
}

func (r row) printedForm(c rune, raw string, trailing bool) string {
	switch {
	case c == ' ' && (r.mark || trailing):
		return "·"
	case c == '\t' && (r.mark || trailing):
		return "→\t"
	case c == '\t':
		return raw
	case c >= ' ' && c < 0x7f:
		return raw
	}
	return readable.Rune(c, raw)
}

func columnsOf(width *runewidth.Condition, c rune, shown string) int {
	switch n := utf8.RuneCountInString(shown); {
	case c == '\t':
		return 8
	case n > 1:
		return n
	}
	// A mark without width counts too. Otherwise a line of only marks would never end.
	return max(1, width.RuneWidth(c))
}

// leadBytes is how much of a long line is shown before its first difference.
const leadBytes = 40

// pairRows returns the rows of two corresponding lines. Long lines are shown from shortly before their
// difference. If only white space differs, it is marked.
func pairRows(old, now string, columns int) (o, n row) {
	from := 0
	if len(old) > columns || len(now) > columns {
		if same := plaintext.CommonPrefix([]byte(old), []byte(now)); same > columns/2 {
			from = max(0, same-leadBytes)
			for from > 0 && !utf8.RuneStart(old[from]) {
				from--
			}
		}
	}
	mark := sameButSpace(old, now)
	return row{sign: '-', line: old, from: from, columns: columns, mark: mark}, row{sign: '+', line: now, from: from, columns: columns, mark: mark}
}

// sameButSpace reports whether a and b are equal without spaces and tabs. It must not copy: lines
// may have many megabytes.
func sameButSpace(a, b string) bool {
	for {
		a, b = strings.TrimLeft(a, " \t"), strings.TrimLeft(b, " \t")
		if a == "" || b == "" {
			return a == b
		}
		if a[0] != b[0] {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// A segment is a marked range of bytes.
type segment struct{ from, to int }

// A marker distributes the marked segments of a text over its lines, from the first line on.
type marker struct {
	segments []segment // of the text, in order
	at       int       // bytes before the next line
	next     int       // index of the next line
}

// newMarkers returns the markers of both sides of changes. Both lists of lines begin at from.
func newMarkers(changes []Change, oldFrom, nowFrom int) (old, now marker) {
	old.at, now.at = oldFrom, nowFrom
	for _, c := range changes {
		old.add(c.OldFrom, c.OldTo)
		now.add(c.NowFrom, c.NowTo)
	}
	return old, now
}

func (m *marker) add(from, to int) {
	if from < to {
		m.segments = append(m.segments, segment{from, to})
	}
}

// mark marks rows. They show the lines from index from on.
func (m *marker) mark(rows []row, lines []string, from int) {
	if len(m.segments) == 0 {
		return
	}
	m.at += bytesOf(lines[m.next:from])
	for i := range rows {
		rows[i].marked = m.within(lines[from+i])
		m.at += len(lines[from+i])
	}
	m.next = from + len(rows)
}

// within returns the segments of the line at m.at. It returns none for a line that is marked whole,
// because its sign shows that.
func (m *marker) within(line string) (marked []segment) {
	for len(m.segments) > 0 && m.segments[0].to <= m.at {
		m.segments = m.segments[1:]
	}
	at, isPart := 0, false
	for _, s := range m.segments {
		from, to := max(s.from-m.at, at), min(s.to-m.at, len(line))
		if from >= len(line) {
			break
		}
		if from < to {
			marked = append(marked, segment{from, to})
			isPart = isPart || strings.TrimSpace(line[at:from]) != ""
			at = to
		}
	}
	if !isPart && strings.TrimSpace(line[at:]) == "" {
		return nil
	}
	return marked
}

// isMarked reports whether the byte at i of the line is marked. It drops the segments before i.
func (r *row) isMarked(i int) bool {
	for len(r.marked) > 0 && r.marked[0].to <= i {
		r.marked = r.marked[1:]
	}
	return len(r.marked) > 0 && r.marked[0].from <= i
}

// Hex returns the differences of two contents as rows of hex within the limits. The first difference is
// in the middle of the rows, if enough rows are before it.
func Hex(old, now []byte, l Limits) string {
	var b strings.Builder
	l = l.withDefaults()
	s := newSheet(&b, l.Lines, 0, false)
	s.writeBytes(old, now, min(l.Lines/3, hexContextMax))
	s.w.Flush() // a strings.Builder takes everything
	return b.String()
}

// Changes returns the changes between two texts as ranges of bytes, in whole lines and in order. Texts
// of very many lines have one change, from the first difference to the last.
func Changes(old, now []byte) (changes []Change) {
	e := newExcerpt(old, now, 0)
	var last Change // lines
	at := Change{OldTo: e.start, NowTo: e.start}
	for _, c := range e.changes() {
		at.OldFrom, at.NowFrom = plaintext.Forth(old, at.OldTo, c.OldFrom-last.OldTo), plaintext.Forth(now, at.NowTo, c.NowFrom-last.NowTo)
		at.OldTo, at.NowTo = plaintext.Forth(old, at.OldFrom, c.OldTo-c.OldFrom), plaintext.Forth(now, at.NowFrom, c.NowTo-c.NowFrom)
		changes, last = append(changes, at), c
	}
	return changes
}

// ChangedLines is Changes as ranges of lines.
func ChangedLines(old, now []byte) []Change {
	e := newExcerpt(old, now, 0)
	changes := e.changes()
	for i := range changes {
		c := &changes[i]
		*c = Change{c.OldFrom + e.before, c.OldTo + e.before, c.NowFrom + e.before, c.NowTo + e.before}
	}
	return changes
}

func bytesOf(lines []string) (n int) {
	for _, line := range lines {
		n += len(line)
	}
	return n
}

// Colour colours a line of a diff, without its newline, for a terminal.
func Colour(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return palette.Added.Paint(line)
	case strings.HasPrefix(line, "-"):
		return palette.Removed.Paint(line)
	case strings.HasPrefix(line, "@@"):
		return palette.Cyan.Paint(line)
	case strings.HasPrefix(line, "<"), strings.HasPrefix(line, ">"), strings.HasPrefix(line, "…"), strings.HasPrefix(line, "\\"):
		return palette.Dim.Paint(line)
	}
	return line
}

// ColourAll is Colour of every line.
func ColourAll(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		plain, newline := strings.CutSuffix(line, "\n")
		b.WriteString(Colour(plain))
		if newline {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
