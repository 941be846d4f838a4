package review

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"muster/internal/readable"
)

// leadBytes is how much of a long line is shown before its first mark.
const leadBytes = 40

// spans divides a line, which begins at an offset of its text, into marked and unmarked spans.
// It takes only the stretch of a long line that has the first mark.
func (s *sheet) spans(line []byte, offset int, marked []stretch) (spans []Span) {
	from, to := 0, len(line)
	if to > s.Columns {
		from, to = window(line, offset, marked, s.Columns)
	}
	if from > 0 {
		spans = append(spans, Span{Text: "+" + readable.Count(from, "byte") + " … "})
	}
	at := from
	for _, m := range marked {
		a, b := max(m.From-offset, at), min(m.To-offset, to)
		if a >= to {
			break
		}
		if a >= b {
			continue
		}
		spans = add(spans, line[at:a], Plain)
		at = b
		if a == 0 && b == len(line) && b > 1 {
			b -= len(line) - len(bytes.TrimSuffix(line, newline)) // a whole line, whose end says nothing
		}
		spans = add(spans, line[a:b], m.mark)
	}
	spans = add(spans, line[at:to], Plain)
	if to < len(line) {
		spans = append(spans, Span{Text: " … +" + readable.Count(len(line)-to, "byte")})
	}
	return spans
}

// window returns the stretch of a long line that is shown.
func window(line []byte, offset int, marked []stretch, columns int) (from, to int) {
	for _, m := range marked {
		if m.From-offset >= len(line) {
			break
		}
		if from = max(0, m.From-offset-leadBytes); m.mark == GoneMark || m.mark == ComeMark {
			break // of the item in focus
		}
	}
	if from <= columns/2 {
		from = 0
	}
	to = min(from+columns, len(line))
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && to > from && !utf8.RuneStart(line[to]) {
		to--
	}
	return from, to
}

// add appends a stretch in readable form. It makes marked blanks visible if nothing else is
// marked, and a marked end of line.
func add(spans []Span, text []byte, m Mark) []Span {
	if m == Plain {
		text = bytes.TrimSuffix(text, newline)
	}
	if len(text) == 0 {
		return spans
	}
	shown := readable.Text(string(text))
	if m != Plain {
		blank := strings.TrimRight(shown, " \t\n")
		shown = blank + visible.Replace(shown[len(blank):])
	}
	return append(spans, Span{shown, m})
}

var visible = strings.NewReplacer(" ", "·", "\t", "→\t", "\n", "⏎")
