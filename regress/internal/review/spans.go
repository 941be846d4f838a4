package review

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"muster/internal/readable"
	"muster/regress/internal/cause"
	"muster/regress/internal/diff"
	"muster/regress/internal/plaintext"
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
	return append(spans, Span{Text: shown, Mark: m})
}

var visible = strings.NewReplacer(" ", "·", "\t", "→\t", "\n", "⏎")

// Edits returns the edits of a part, and whether these are the ones that were attributed to
// items. If the golden has changed, the attributed edits may no longer turn the old text into
// the new one. Then Edits computes new ones.
func Edits(p Part) (edits []cause.Attributed, attributed bool) {
	if len(p.Edits) > 0 && fit(p) {
		return p.Edits, true
	}
	for _, c := range diff.Changes(p.Old, p.Now) {
		edits = append(edits, cause.Attributed{LiteralEdit: tighten(p, c), Cause: All})
	}
	return edits, false
}

// fit reports whether the edits are in order, and the text between them is equal on both sides.
func fit(p Part) bool {
	old, now := 0, 0
	for _, e := range p.Edits {
		if e.Old.From < old || e.Now.From < now || e.Old.To < e.Old.From || e.Now.To < e.Now.From ||
			e.Old.To > len(p.Old) || e.Now.To > len(p.Now) || !bytes.Equal(p.Old[old:e.Old.From], p.Now[now:e.Now.From]) {
			return false
		}
		old, now = e.Old.To, e.Now.To
	}
	return bytes.Equal(p.Old[old:], p.Now[now:])
}

// tighten removes equal text from both ends of a change of few lines, so that words are marked
// and not whole lines.
func tighten(p Part, c diff.Change) cause.LiteralEdit {
	old, now := p.Old[c.OldFrom:c.OldTo], p.Now[c.NowFrom:c.NowTo]
	head, tail := 0, 0
	if bytes.Count(old, newline) == bytes.Count(now, newline) {
		head = plaintext.CommonPrefix(old, now)
		for head > 0 && head < len(old) && !utf8.RuneStart(old[head]) || head > 0 && head < len(now) && !utf8.RuneStart(now[head]) {
			head--
		}
		tail = plaintext.CommonSuffix(old[head:], now[head:])
		for tail > 0 && !utf8.RuneStart(old[len(old)-tail]) {
			tail--
		}
	}
	return cause.LiteralEdit{
		Old: cause.Span{From: c.OldFrom + head, To: c.OldTo - tail},
		Now: cause.Span{From: c.NowFrom + head, To: c.NowTo - tail},
	}
}

var newline = []byte("\n")

// A block is a run of edits that share lines, widened to whole lines. Between two blocks the
// lines are equal.
type block struct {
	old, now cause.Span
	edits    []cause.Attributed
}

// blocks calls yield for each block in order, until yield returns false.
func blocks(p Part, edits []cause.Attributed, yield func(block) bool) {
	var b block
	var all cause.LiteralEdit // from the first edit of b to its last
	for i, e := range edits {
		begun := len(b.edits) > 0
		if begun && e.Old.To < b.old.To && e.Now.To < b.now.To {
			// within lines that the block has, so that a long line is not read again
			all.Old.To, all.Now.To = e.Old.To, e.Now.To
			b.edits = edits[i-len(b.edits) : i+1]
			continue
		}
		old, now := widen(p, e.LiteralEdit)
		if begun && (old.From < b.old.To || now.From < b.now.To) {
			// the text behind the earlier edit is equal only up to this one
			all.Old.To, all.Now.To = e.Old.To, e.Now.To
			old, now = widen(p, all)
			b = block{old, now, edits[i-len(b.edits) : i+1]}
			continue
		}
		if begun && !yield(b) {
			return
		}
		b, all = block{old, now, edits[i : i+1]}, e.LiteralEdit
	}
	if len(b.edits) > 0 {
		yield(b)
	}
}

// widen returns the whole lines that contain an edit, on both sides. The text before the edit,
// and after it up to the next one, is equal on both sides, so both are widened by the same
// bytes.
func widen(p Part, e cause.LiteralEdit) (old, now cause.Span) {
	old, now = e.Old, e.Now
	old.From, now.From = plaintext.LineStart(p.Old, old.From), plaintext.LineStart(p.Now, now.From)
	if plaintext.LineStart(p.Old, old.To) != old.To || plaintext.LineStart(p.Now, now.To) != now.To {
		old.To, now.To = plaintext.LineEnd(p.Old, old.To), plaintext.LineEnd(p.Now, now.To)
	}
	return old, now
}
