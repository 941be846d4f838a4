package cause

import (
	"bytes"
	"strings"
)

// emit makes literal edits of the blocks of a hunk, and of the different gaps between equal tokens.
func (h *hunk) emit() {
	i, j, done := 0, 0, false // done: the gap of the next pair is part of an edit
	for n, b := range h.blocks {
		h.compareGaps(i, b.a0, j, done)
		touched := n+1 < len(h.blocks) && h.blocks[n+1].a0 == b.a1
		done = h.emitBlock(b, h.marks[n], done && i == b.a0 && j == b.b0, touched)
		i, j = b.a1, b.b1
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
	h.addGapEdits(Span{int(a.gap), int(a.from)}, Span{int(b.gap), int(b.from)})
}

// emitBlock adds the edit of a block. It reports whether the edit includes the gap of the token
// after it. taken means that the edit before includes the gap of the block's first token. A gap
// within a line that differs beside a replacement belongs to that, because by itself it says
// nothing.
func (h *hunk) emitBlock(b block, m mark, taken, touched bool) (done bool) {
	old, now := h.scratch.old, h.scratch.now
	var e LiteralEdit
	switch {
	case b.a0 == b.a1:
		e.Now, done = edges(h.text.now, now[b.b0:b.b1+1], h.text.old, old[b.a0])
		e.Old = pointAt(old[b.a0], done)
	case b.b0 == b.b1:
		e.Old, done = edges(h.text.old, old[b.a0:b.a1+1], h.text.now, now[b.b0])
		e.Now = pointAt(now[b.b0], done)
	default:
		e.Old = Span{int(old[b.a0].from), int(old[b.a1-1].to)}
		e.Now = Span{int(now[b.b0].from), int(now[b.b1-1].to)}
		switch {
		case taken:
		case h.gapBelongs(b.a0, b.b0):
			e.Old.From, e.Now.From = int(old[b.a0].gap), int(now[b.b0].gap)
		default:
			h.text.besideEdit = true
			h.compareGap(b.a0, b.b0)
			h.text.besideEdit = false
		}
	}
	if !done && !touched && h.gapBelongs(b.a1, b.b1) {
		e.Old.To, e.Now.To, done = int(old[b.a1].from), int(now[b.b1].from), true
	}
	h.addEdit(e, b, m)
	return done
}

// gapBelongs reports whether a gap differs and is within a line on both sides.
func (h *hunk) gapBelongs(i, j int) bool {
	a, b := h.scratch.old[i], h.scratch.now[j]
	x, y := h.text.old[a.gap:a.from], h.text.now[b.gap:b.from]
	return !bytes.Equal(x, y) && bytes.IndexByte(x, '\n') < 0 && bytes.IndexByte(y, '\n') < 0
}

// edges returns the range of tokens that only one side has, with the gap before them. It includes
// the gap after them instead if the gap that remains is then that of the other side.
func edges(text []byte, tokens []token, other []byte, behind token) (s Span, done bool) {
	n := len(tokens) - 1
	first, next := tokens[0], tokens[n]
	gap := other[behind.gap:behind.from]
	if !bytes.Equal(text[next.gap:next.from], gap) && bytes.Equal(text[first.gap:first.from], gap) {
		return Span{int(first.from), int(next.from)}, true
	}
	return Span{int(first.gap), int(tokens[n-1].to)}, false
}

func pointAt(k token, done bool) Span {
	if done {
		return Span{int(k.from), int(k.from)}
	}
	return Span{int(k.gap), int(k.gap)}
}

// addEdit adds the edit of a block with its pattern.
func (h *hunk) addEdit(e LiteralEdit, b block, m mark) {
	s := h.scratch
	p := place{LiteralEdit: e}
	p.before, p.after = h.neighbourWord(s.old, b.a0-1), h.neighbourWord(s.old, b.a1)
	h.changed += int64(max(e.Old.To-e.Old.From, e.Now.To-e.Now.From))
	s.elements[0] = collapse(s.elements[0][:0], h.text.old, s.old[b.a0:b.a1])
	s.elements[1] = collapse(s.elements[1][:0], h.text.now, s.now[b.b0:b.b1])
	if m.key == nil {
		s.key = appendEdit(s.key[:0], s.elements[0], s.elements[1])
		s.key = h.appendContext(s.key, e, s.elements[0], s.elements[1])
		m.key = s.key
		p.cut = h.keepCuts(s.elements[0], s.elements[1])
	}
	n := h.add(p, m.key)
	if _, known := h.words.spaces[n]; known || len(s.elements[0]) <= 1 && len(s.elements[1]) <= 1 {
		return
	}
	if m.spaces == (spaces{}) {
		m.spaces = spaces{spacesOf(h.text.old, s.elements[0]), spacesOf(h.text.now, s.elements[1])}
	}
	h.words.setSpaces(n, m.spaces)
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
func (h *hunk) neighbourWord(tokens []token, at int) int32 {
	if at < 0 || at >= len(tokens) || tokens[at].to == tokens[at].from {
		return 0
	}
	b := tokens[at].bytes(h.text.old)
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
func (t *text) add(p place, pattern []byte) int32 {
	p.pattern = t.words.index(pattern)
	p.line = t.counter.to(p.Now.From)
	p.lines = 1 + int32(max(bytes.Count(t.old[p.Old.From:p.Old.To], newline), bytes.Count(t.now[p.Now.From:p.Now.To], newline)))
	if p.lines > 1 && (startsWithNewline(t.now[p.Now.From:p.Now.To]) || startsWithNewline(t.old[p.Old.From:p.Old.To])) {
		p.lines--
	}
	if len(t.places) >= editsMax && t.countExcess(p) {
		return p.pattern
	}
	p.gap = t.gapBefore(p.Old.From)
	t.places = append(t.places, p)
	return p.pattern
}

// countExcess counts an edit beyond editsMax, and reports whether its pattern was known.
func (t *text) countExcess(p place) bool {
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
func (t *text) countEdit(p place) bool {
	e, known := t.extents[p.pattern]
	if !known || e.last != p.line {
		e.lines += p.lines
	}
	e.edits++
	e.last = p.line + p.lines - 1
	t.extents[p.pattern] = e
	return known
}

// far stands for all long gaps between edits.
const (
	far      = 255
	farBytes = 120
)

// gapBefore counts the tokens since the edit before.
func (t *text) gapBefore(at int) uint8 {
	last := 0
	if n := len(t.places); n > 0 {
		last = t.places[n-1].Old.To
	}
	if at-last > farBytes {
		return far
	}
	n := 0
	for i := last; i < at; n++ {
		if i = skipSpace(t.old, i, at); i < at {
			_, i = next(t.old, i, at)
		}
	}
	return uint8(n)
}

func startsWithNewline(b []byte) bool {
	for _, c := range b {
		if !isSpace(c) || c == '\n' {
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
	key := append(append(t.scratch.key[:0], sortSpace.key("")...), change.key()...)
	if in := t.spaceContext(old, now, change); in != "" {
		key = append(append(key, '\t'), in...)
	}
	t.scratch.key = key
	t.add(place{LiteralEdit: LiteralEdit{old, now}, cut: -1}, key)
}

// spaceContext returns the context that separates equal changes of whitespace. It uses the side
// with more lines, because lines were split or joined there.
func (t *text) spaceContext(old, now Span, change gapChange) string {
	switch {
	case change.isOfIndent():
		return t.indentContext(old, now)
	case change.sort == alignment && !sameWords(lastLineOf(t.old, old.From), lastLineOf(t.now, now.From)):
		return "behind an edit"
	case !change.dependsOnPlace():
		return ""
	}
	s, gap := &t.around[0], old
	other, at, since := &t.around[1], now.From, "in removed "
	if bytes.IndexByte(t.old[old.From:old.To], '\n') < 0 {
		s, gap = &t.around[1], now
		other, at, since = &t.around[0], old.From, "in added "
	}
	if change.isOfBlankLines() { // of the lines themselves, without the next line's indent
		gap.To = skipSpace(s.text, gap.To, len(s.text))
	}
	in := s.gap(gap, change)
	if !change.isBroken() {
		return in
	}
	if bracket, is := strings.CutPrefix(in, "in "); is && in != inComment && !other.isEnclosed(at) {
		in = since + bracket
	}
	if t.besideEdit {
		in = strings.TrimPrefix(in+" before an edit", " ")
	}
	return in
}

// An indentedLine is the last line whose indent changed.
type indentedLine struct {
	ends, by int // the end of its indent, and how many bytes it gained
	in       string
}

// indentContext returns the context of an indent. A line that begins with an operator continues the
// line before, and is aligned with it. If it moves as the line before does, it has that line's
// context.
func (t *text) indentContext(old, now Span) string {
	is := indentedLine{ends: now.To, by: now.To - now.From - (old.To - old.From)}
	behind := t.now[now.To:min(len(t.now), now.To+operatorMax)]
	if weight(firstByte(behind)) == operatorWeight && headOf(behind) == "" && !t.around[1].inRemark(now.To) {
		is.in = "before an operator"
	}
	last := t.lastIndent
	between := t.now[max(min(last.ends, now.From), now.From-scanMax):now.From]
	if last.by == is.by && bytes.IndexByte(bytes.TrimSpace(between), '\n') < 0 {
		is.in = last.in
	}
	t.lastIndent = is
	return is.in
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
