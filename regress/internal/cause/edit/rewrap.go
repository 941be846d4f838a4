package edit

import (
	"bytes"
	"slices"
	"unicode"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// rewrapped is the pattern of line breaks that moved because text on their line changed, or because a text is
// filled to another width.
const rewrapped = string(pattern.Space) + " lines are wrapped elsewhere"

// matchRewraps gives one pattern to line breaks that follow from edits of the same lines: where breaks
// went and others came, and where a line would be wider than any other without the break. So it does where
// text is filled to another width: breaks alone went and came between the same words. Other breaks that
// changed alone are what a formatter does, and keep their patterns.
func (t *text) matchRewraps() {
	if t.extents != nil {
		return
	}
	w := rewraps{text: t}
	for i := 0; i < len(t.places); i++ {
		if !w.isBreak(&t.places[i]) {
			continue
		}
		from, to := i, i+1
		for from > 0 && !w.keepsBreak(&t.places[from-1], &t.places[from]) {
			from--
		}
		for to < len(t.places) && !w.keepsBreak(&t.places[to-1], &t.places[to]) {
			to++
		}
		w.match(t.places[from:to])
		i = to - 1
	}
	for i := range t.places {
		if p := &t.places[i]; w.filled && w.isBreak(p) && w.isBesideSpace(p) && w.isTooWideAt(p, outliers) {
			p.Pattern = t.words.Add(rewrapped)
		}
	}
}

type rewraps struct {
	*text
	filled bool     // the text is filled to another width
	widths [2][]int // of the lines of the old and the new text, in columns, sorted; nil = unknown
}

// keepsBreak reports whether a line ends in the same way on both sides between two edits.
func (w *rewraps) keepsBreak(a, b *Place) bool {
	return bytes.IndexByte(w.old[a.Old.To:b.Old.From], '\n') >= 0 || a.isLong(w.text) || b.isLong(w.text)
}

// isLong reports whether an edit goes over a line's end on both sides.
func (p *Place) isLong(t *text) bool {
	return bytes.IndexByte(t.old[p.Old.From:p.Old.To], '\n') >= 0 && bytes.IndexByte(t.now[p.Now.From:p.Now.To], '\n') >= 0
}

// match gives the pattern to edits between two line ends that stayed.
func (w *rewraps) match(edits []Place) {
	removed, added, pure, changed, wide := 0, 0, true, false, false
	for i := range edits {
		old, now := w.sides(&edits[i])
		pure = pure && w.isBreak(&edits[i])
		isLine := startsWithNewline(old) || startsWithNewline(now) // lines that came or went beside others
		changed = changed || !isLine && (bytes.ContainsFunc(old, isWordRune) || bytes.ContainsFunc(now, isWordRune))
		switch x, y := bytes.Count(old, newline), bytes.Count(now, newline); {
		case x > y:
			removed++
		case x < y:
			added++
		}
		wide = wide || w.isTooWideAt(&edits[i], outliers)
	}
	if removed+added == 0 {
		return
	}
	all := removed*added > 0 && wide
	w.filled = w.filled || all && pure
	for i := range edits {
		p := &edits[i]
		if w.isBreak(p) && (changed && (all || w.isTooWideAt(p, 0)) || pure && all && w.isBesideSpace(p)) {
			p.Pattern = w.words.Add(rewrapped)
		}
	}
}

// isBesideSpace reports whether a break stands where the other side has a space, as between words.
func (w *rewraps) isBesideSpace(p *Place) bool {
	old, now := w.sides(p)
	return len(old) > 0 && len(now) > 0
}

// outliers is the share of lines that may exceed the tool's width, because they have no place for a break.
const outliers = 0.1

// isBreak reports whether an edit adds or removes one line break and nothing but spaces.
func (w *rewraps) isBreak(p *Place) bool {
	old, now := w.sides(p)
	if len(old) > 0 && !token.IsSpace(old[0]) || len(now) > 0 && !token.IsSpace(now[0]) {
		return false
	}
	return len(bytes.TrimSpace(old))+len(bytes.TrimSpace(now)) == 0 && bytes.Count(old, newline)+bytes.Count(now, newline) == 1
}

func (w *rewraps) isTooWideAt(p *Place, but float64) bool {
	old, now := w.sides(p)
	switch {
	case !w.isBreak(p):
		return false
	case bytes.IndexByte(old, '\n') >= 0:
		return w.isTooWide(0, p.Old, len(now), but)
	}
	return w.isTooWide(1, p.Now, len(old), but)
}

// isWordRune reports whether a character is part of a word or a number. Brackets and other signs that
// come with line breaks are the work of a formatter too.
func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (w *rewraps) sides(p *Place) (old, now []byte) {
	return w.old[p.Old.From:p.Old.To], w.now[p.Now.From:p.Now.To]
}

// isTooWide reports whether the lines beside a break are wider than other lines of their side if spaces
// replace it: than all but a share of them.
func (w *rewraps) isTooWide(side int, gap Span, spaces int, but float64) bool {
	text := w.around[side].text
	if w.widths[side] == nil {
		for line := range bytes.Lines(text) {
			w.widths[side] = append(w.widths[side], max(wrapMin, columns(bytes.TrimRight(line, "\r\n"))))
		}
		slices.Sort(w.widths[side])
	}
	before := text[bytes.LastIndexByte(text[:gap.From], '\n')+1 : gap.From]
	behind, _, _ := bytes.Cut(text[gap.To:], newline)
	behind = bytes.TrimRight(behind, "\r")
	widths := w.widths[side]
	return columns(before)+spaces+columns(behind) > widths[len(widths)-1-int(but*float64(len(widths)-1))]
}

// wrapMin is the fewest columns at which a tool is taken to wrap lines.
const wrapMin = 40

// columns returns the width of a line, with a tab stop every 8 columns.
func columns(line []byte) (n int) {
	for _, c := range line {
		switch {
		case c == '\t':
			n += 8 - n%8
		case c&0xc0 != 0x80: // not the rest of a character
			n++
		}
	}
	return n
}
