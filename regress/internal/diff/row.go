package diff

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"muster/internal/readable"
	"muster/regress/internal/palette"
)

// A row is one line of a text with its layout in a diff.
type row struct {
	sign    byte   // ' ', '-' or '+'
	line    string // with its newline, if it has one
	from    int    // bytes at its start to leave out
	columns int    // the most to show
	mark    bool   // show every space and tab, because only they changed
	marked  []segment
}

// noNewline is printed after a last line that lacks its newline.
const noNewline = `\ No newline at end of file`

func (r row) endsText() bool { return !strings.HasSuffix(r.line, "\n") }

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
		if same := commonPrefix([]byte(old), []byte(now)); same > columns/2 {
			from = max(0, same-leadBytes)
			for from > 0 && !utf8.RuneStart(old[from]) {
				from--
			}
		}
	}
	mark := sameButSpace(old, now)
	return row{'-', old, from, columns, mark, nil}, row{'+', now, from, columns, mark, nil}
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
