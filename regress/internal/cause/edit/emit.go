package edit

import (
	"bytes"
	"slices"

	"muster/regress/internal/align"
	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// emit makes literal edits of the blocks of a hunk, and of the different gaps between equal tokens.
func (h *hunk) emit() {
	i, j, done := 0, 0, false // done: the gap of the next pair is part of an edit
	for n, b := range h.blocks {
		h.compareGaps(i, b.A0, j, done)
		touched := n+1 < len(h.blocks) && h.blocks[n+1].A0 == b.A1
		done = h.emitBlock(b, h.marks[n], done && i == b.A0 && j == b.B0, touched)
		i, j = b.A1, b.B1
	}
	h.compareGaps(i, len(h.scratch.old), j, done)
}

// compareGaps compares the whitespace before tokens that are equal.
func (h *hunk) compareGaps(i, to, j int, done bool) {
	for ; i < to; i, j = i+1, j+1 {
		if !done {
			h.compareGap(i, j)
		}
		done = false
	}
}

func (h *hunk) compareGap(i, j int) {
	a, b := h.scratch.old[i], h.scratch.now[j]
	h.addGapEdits(Span{int(a.Gap), int(a.From)}, Span{int(b.Gap), int(b.From)})
}

// emitBlock adds the edit of a block. It reports whether the edit includes the gap of the token
// after it. taken means that the edit before includes the gap of the block's first token. A gap
// within a line that differs beside a replacement belongs to that, because by itself it says
// nothing.
func (h *hunk) emitBlock(b align.Block, m mark, taken, touched bool) (done bool) {
	old, now := h.scratch.old, h.scratch.now
	if !taken && m.key == nil && h.emitAroundGap(b) {
		return true
	}
	var e LiteralEdit
	switch {
	case taken && b.IsPure(): // its first gap is that of the edit before, so it has the one behind it
		e.Old, e.Now, done = Span{int(old[b.A0].From), int(old[b.A1].From)}, Span{int(now[b.B0].From), int(now[b.B1].From)}, true
	case b.A0 == b.A1:
		e.Now, done = edges(h.text.now, now[b.B0:b.B1+1], h.text.old, old[b.A0])
		e.Old = pointAt(old[b.A0], done)
	case b.B0 == b.B1:
		e.Old, done = edges(h.text.old, old[b.A0:b.A1+1], h.text.now, now[b.B0])
		e.Now = pointAt(now[b.B0], done)
	default:
		e.Old = Span{int(old[b.A0].From), int(old[b.A1-1].To)}
		e.Now = Span{int(now[b.B0].From), int(now[b.B1-1].To)}
		switch {
		case taken:
		case h.gapBelongs(b.A0, b.B0):
			e.Old.From, e.Now.From = int(old[b.A0].Gap), int(now[b.B0].Gap)
		default:
			h.compareGap(b.A0, b.B0)
		}
	}
	if !done && !touched && h.gapBelongs(b.A1, b.B1) {
		e.Old.To, e.Now.To, done = int(old[b.A1].From), int(now[b.B1].From), true
	}
	h.addEdit(e, b, m)
	return done
}

// emitAroundGap adds the edits of a block that puts a tag before whitespace and one behind it, or takes
// them out, and reports whether the block does that. Both edits have the pattern of a wrap.
func (h *hunk) emitAroundGap(b align.Block) bool {
	s, other, behind, as := h.nowSide(), h.text.old, h.scratch.old[b.A0], pattern.Wrap
	if b.B0 == b.B1 {
		s, other, behind, as = h.oldSide(), h.text.now, h.scratch.now[b.B0], pattern.Unwrap
	}
	from, to, pure := s.in(b)
	tokens := s.tokens[from : to+1]
	n := tagEnd(tokens[:to-from], s.text)
	if !pure || n == 0 || n == to-from || tagEnd(tokens[n:to-from], s.text) != to-from-n || s.text[tokens[0].From+1] == '/' || s.text[tokens[n].From+1] != '/' {
		return false
	}
	gap := func(k token.Token) []byte { return s.text[k.Gap:k.From] }
	first, inside := gap(tokens[0]), gap(tokens[n])
	if len(inside) == 0 || !bytes.Equal(other[behind.Gap:behind.From], slices.Concat(first, inside, gap(tokens[to-from]))) {
		return false
	}
	opening, closing := collapse(nil, s.text, tokens[:n]), collapse(nil, s.text, tokens[n:to-from])
	key := appendElements(append(appendElements([]byte(as.Key("")), opening), '\t'), closing)
	at := int(behind.Gap) + len(first)
	for i, half := range [...][]token.Token{tokens[:n], tokens[n : to-from]} {
		e := LiteralEdit{Span{at, at}, Span{int(half[0].From), int(half[len(half)-1].To)}}
		if at += len(inside); as == pattern.Unwrap {
			e.Old, e.Now = e.Now, e.Old
		}
		p := Place{LiteralEdit: e, Cut: -1}
		if i == 0 {
			p.Before = h.neighbourWord(h.scratch.old, b.A0-1)
		} else {
			p.After = h.neighbourWord(h.scratch.old, b.A1)
		}
		h.changed += int64(max(e.Old.To-e.Old.From, e.Now.To-e.Now.From))
		h.words.SetSpaces(h.add(p, key), pattern.Spaces{Old: spacesOf(s.text, opening), Now: spacesOf(s.text, closing)})
	}
	return true
}

// gapBelongs reports whether a gap differs and is within a line on both sides.
func (h *hunk) gapBelongs(i, j int) bool {
	a, b := h.scratch.old[i], h.scratch.now[j]
	x, y := h.text.old[a.Gap:a.From], h.text.now[b.Gap:b.From]
	return !bytes.Equal(x, y) && bytes.IndexByte(x, '\n') < 0 && bytes.IndexByte(y, '\n') < 0
}

// edges returns the range of tokens that only one side has, with the gap before them. It includes
// the gap after them instead if the gap that remains is then that of the other side.
func edges(text []byte, tokens []token.Token, other []byte, behind token.Token) (s Span, done bool) {
	n := len(tokens) - 1
	first, next := tokens[0], tokens[n]
	gap := other[behind.Gap:behind.From]
	if !bytes.Equal(text[next.Gap:next.From], gap) && bytes.Equal(text[first.Gap:first.From], gap) {
		return Span{int(first.From), int(next.From)}, true
	}
	return Span{int(first.Gap), int(tokens[n-1].To)}, false
}

func pointAt(k token.Token, done bool) Span {
	if done {
		return Span{int(k.From), int(k.From)}
	}
	return Span{int(k.Gap), int(k.Gap)}
}

// addEdit adds the edit of a block with its pattern.
func (h *hunk) addEdit(e LiteralEdit, b align.Block, m mark) {
	s := h.scratch
	p := Place{LiteralEdit: e}
	p.Before, p.After = h.neighbourWord(s.old, b.A0-1), h.neighbourWord(s.old, b.A1)
	h.changed += int64(max(e.Old.To-e.Old.From, e.Now.To-e.Now.From))
	s.elements[0] = collapse(s.elements[0][:0], h.text.old, s.old[b.A0:b.A1])
	s.elements[1] = collapse(s.elements[1][:0], h.text.now, s.now[b.B0:b.B1])
	for i, es := range s.elements {
		if slices.ContainsFunc(es, element.isRule) && !slices.ContainsFunc(s.elements[1-i], element.isRule) {
			s.elements[i] = foldRules(es)
		}
	}
	if m.key == nil {
		s.key = appendEdit(s.key[:0], s.elements[0], s.elements[1])
		s.key = h.appendContext(s.key, e, s.elements[0], s.elements[1])
		m.key = s.key
		p.Cut = h.keepCuts(s.elements[0], s.elements[1])
	}
	n := h.add(p, m.key)
	if _, known := h.words.Spaces[n]; known || len(s.elements[0]) <= 1 && len(s.elements[1]) <= 1 {
		return
	}
	if m.spaces == (pattern.Spaces{}) {
		m.spaces = pattern.Spaces{Old: spacesOf(h.text.old, s.elements[0]), Now: spacesOf(h.text.now, s.elements[1])}
	}
	h.words.SetSpaces(n, m.spaces)
}

// appendContext appends the context to a pattern that consists of one sign on one side.
func (h *hunk) appendContext(key []byte, e LiteralEdit, old, now []element) []byte {
	in := ""
	switch {
	case len(old) == 0 && len(now) == 1:
		in = h.around[1].loneSign(e.Now, now[0])
	case len(now) == 0 && len(old) == 1:
		in = h.around[0].loneSign(e.Old, old[0])
	}
	if in != "" {
		key = append(append(key, '\t'), in...)
	}
	return key
}

// neighbourWord returns the index of a neighbouring token's word, 0 for no word.
func (h *hunk) neighbourWord(tokens []token.Token, at int) int32 {
	if at < 0 || at >= len(tokens) || tokens[at].To == tokens[at].From {
		return 0
	}
	b := tokens[at].Bytes(h.text.old)
	if len(b) > wordMax {
		return 0
	}
	return h.words.index(b)
}

// wordMax is the longest neighbouring word that is kept, in bytes.
const wordMax = 64

// keepCuts records where the elements of an edit begin, if it has several.
func (t *text) keepCuts(old, now []element) int32 {
	if len(old) <= 1 && len(now) <= 1 {
		return -1
	}
	at := int32(len(t.cuts))
	for _, side := range [...][]element{old, now} {
		for i := 1; i < len(side); i++ {
			t.cuts = append(t.cuts, side[i].at)
		}
	}
	return at
}

// add appends an edit with its pattern, and returns the number of the pattern.
func (t *text) add(p Place, pattern []byte) int32 {
	p.Pattern = t.words.index(pattern)
	p.Line = t.counter.to(p.Now.From)
	old, now := t.old[p.Old.From:p.Old.To], t.now[p.Now.From:p.Now.To]
	p.Lines = 1 + int32(max(bytes.Count(old, newline), bytes.Count(now, newline)))
	isWhole := len(old) == 0 && bytes.HasSuffix(now, newline) || len(now) == 0 && bytes.HasSuffix(old, newline)
	if p.Lines > 1 && (isWhole || startsWithNewline(now) || startsWithNewline(old)) {
		p.Lines--
	}
	if len(t.places) >= editsMax && t.countExcess(p) {
		return p.Pattern
	}
	p.Gap = t.gapBefore(p.Old.From)
	t.lastRecord = t.record
	t.places = append(t.places, p)
	return p.Pattern
}

// countExcess counts an edit beyond editsMax, and reports whether its pattern was known.
func (t *text) countExcess(p Place) bool {
	if t.extents == nil {
		t.extents = map[int32]extent{}
		for _, q := range t.places {
			t.countEdit(q)
		}
	}
	return t.countEdit(p)
}

// An extent is the number of edits of a pattern, the number of lines that they cover, and the last
// of those lines.
type extent struct{ edits, lines, last int32 }

// countEdit adds an edit to the extent of its pattern, and reports whether the pattern was known.
func (t *text) countEdit(p Place) bool {
	e, known := t.extents[p.Pattern]
	if !known || e.last != p.Line {
		e.lines += p.Lines
	}
	e.edits++
	e.last = p.Line + p.Lines - 1
	t.extents[p.Pattern] = e
	return known
}

// Far stands for all long gaps between edits.
const (
	Far      = 255
	farBytes = 120
)

// gapBefore counts the tokens since the edit before. In a document, all edits of a record are near.
func (t *text) gapBefore(at int) uint8 {
	switch {
	case t.record != t.lastRecord:
		return Far
	case t.record > 0:
		return 1
	}
	last := 0
	if n := len(t.places); n > 0 {
		last = t.places[n-1].Old.To
	}
	if at-last > farBytes {
		return Far
	}
	n := 0
	for i := last; i < at; n++ {
		if i = token.SkipSpace(t.old, i, at); i < at {
			_, i = token.Next(t.old, i, at)
		}
	}
	return uint8(n)
}

func startsWithNewline(b []byte) bool {
	for _, c := range b {
		if !token.IsSpace(c) || c == '\n' {
			return c == '\n'
		}
	}
	return false
}

var newline = []byte("\n")

// addGapEdits adds the edits of a gap: one each for the end of the line before, the blank lines,
// and the indent.
func (t *text) addGapEdits(old, now Span) {
	a, b := t.old[old.From:old.To], t.now[now.From:now.To]
	if bytes.Equal(a, b) {
		return
	}
	a0, a1 := bytes.IndexByte(a, '\n'), bytes.LastIndexByte(a, '\n')+1
	b0, b1 := bytes.IndexByte(b, '\n'), bytes.LastIndexByte(b, '\n')+1
	if a0 < 0 || b0 < 0 {
		t.gapEdit(old, now, gapWithinLine(a, b, a0, b0))
		return
	}
	for _, p := range [...]struct {
		old, now Span
		sortOf   func(old, now []byte) gapSort
	}{
		{Span{0, a0}, Span{0, b0}, trailingSort}, {Span{a0, a1}, Span{b0, b1}, blankLineSort}, {Span{a1, len(a)}, Span{b1, len(b)}, indentSort},
	} {
		if x, y := a[p.old.From:p.old.To], b[p.now.From:p.now.To]; !bytes.Equal(x, y) {
			p.old, p.now = Span{old.From + p.old.From, old.From + p.old.To}, Span{now.From + p.now.From, now.From + p.now.To}
			t.gapEdit(p.old, p.now, gapChange{sort: p.sortOf(x, y)})
		}
	}
}

func (t *text) gapEdit(old, now Span, change gapChange) {
	key := append(append(t.scratch.key[:0], pattern.Space.Key("")...), change.key()...)
	if in := t.spaceContext(old, now, change); in != "" {
		key = append(append(key, '\t'), in...)
	}
	t.scratch.key = key
	t.add(Place{LiteralEdit: LiteralEdit{old, now}, Cut: -1}, key)
}

// spaceContext returns the context that separates equal changes of whitespace. It uses the side
// with more lines, because lines were split or joined there.
func (t *text) spaceContext(old, now Span, change gapChange) string {
	switch {
	case change.sort == alignment && !sameWords(lastLineOf(t.old, old.From), lastLineOf(t.now, now.From)):
		return "behind an edit"
	case t.isLayout, !change.dependsOnPlace():
		return ""
	}
	s, gap := &t.around[0], old
	if bytes.IndexByte(t.old[old.From:old.To], '\n') < 0 {
		s, gap = &t.around[1], now
	}
	if change.isOfBlankLines() { // of the lines themselves, without the next line's indent
		gap.To = token.SkipSpace(s.text, gap.To, len(s.text))
	}
	return s.gap(gap, change)
}

// sameWords reports whether two texts differ only in whitespace.
func sameWords(a, b []byte) bool {
	for {
		a, b = bytes.TrimLeft(a, " \t"), bytes.TrimLeft(b, " \t")
		if len(a) == 0 || len(b) == 0 || a[0] != b[0] {
			return len(a) == len(b)
		}
		a, b = a[1:], b[1:]
	}
}
