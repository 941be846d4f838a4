package review

import (
	"bytes"
	"unicode/utf8"

	"muster/regress/internal/cause"
	"muster/regress/internal/diff"
)

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
		for head < len(old) && head < len(now) && old[head] == now[head] {
			head++
		}
		for head > 0 && head < len(old) && !utf8.RuneStart(old[head]) || head > 0 && head < len(now) && !utf8.RuneStart(now[head]) {
			head--
		}
		for tail < len(old)-head && tail < len(now)-head && old[len(old)-tail-1] == now[len(now)-tail-1] {
			tail++
		}
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
	old.From, now.From = diff.LineStart(p.Old, old.From), diff.LineStart(p.Now, now.From)
	if diff.LineStart(p.Old, old.To) != old.To || diff.LineStart(p.Now, now.To) != now.To {
		old.To, now.To = diff.LineEnd(p.Old, old.To), diff.LineEnd(p.Now, now.To)
	}
	return old, now
}
