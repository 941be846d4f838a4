package cause

import "bytes"

// hunk finds the edits between the lines of a block. What follows it is a pair of lines
// that say the same, whose gap belongs to the hunk.
func (t *text) hunk(b block, c *lineCounter) {
	s := t.scratch
	if len(t.places) >= editsMax {
		t.whole(b, c)
		return
	}
	if b.a1-b.a0 > alignMin || b.b1-b.b0 > alignMin {
		t.aligned(b, c)
		return
	}
	s.old = t.tokens(s.old, t.old, s.oldLines[b.a0:b.a1+1])
	s.now = t.tokens(s.now, t.now, s.nowLines[b.b0:b.b1+1])
	if len(s.old)+len(s.now) > hunkMax {
		t.whole(b, c)
		return
	}
	t.compareTokens(c)
}

// tokens returns those of lines. The last line is the one behind, of which only the gap
// is wanted: it is a token that says nothing.
func (t *text) tokens(tokens []token, text []byte, lines []line) []token {
	tokens = tokens[:0]
	last := len(lines) - 1
	for _, l := range lines[:last] {
		tokens = tokenize(tokens, text, int(l.gap), int(l.to))
	}
	return append(tokens, token{gap: lines[last].gap, from: lines[last].from, to: lines[last].from})
}

// whole makes one edit of a block that there is no telling apart.
func (t *text) whole(b block, c *lineCounter) {
	s := t.scratch
	old := Span{int(s.oldLines[b.a0].gap), int(s.oldLines[b.a1].from)}
	now := Span{int(s.nowLines[b.b0].gap), int(s.nowLines[b.b1].from)}
	t.add(place{LiteralEdit: LiteralEdit{old, now}}, []byte(wholePattern), c)
}

// wholePattern is that of what is replaced as a whole.
const wholePattern = "e L…\tL…"

// aligned goes through a block of many lines that differ, line by line where lines are
// alike but for their words and numbers.
func (t *text) aligned(b block, c *lineCounter) {
	s := t.scratch
	x, y := skeletons(nil, t.old, s.oldLines[b.a0:b.a1]), skeletons(nil, t.now, s.nowLines[b.b0:b.b1])
	i, j := b.a0, b.b0
	blocks := append(s.compare(x, y, linesMax), block{len(x), len(x), len(y), len(y)})
	for _, k := range blocks {
		for ; i < b.a0+k.a0; i, j = i+1, j+1 {
			t.piece(block{i, i + 1, j, j + 1}, c)
		}
		if next := (block{i, b.a0 + k.a1, j, b.b0 + k.b1}); next.a0 < next.a1 || next.b0 < next.b1 {
			t.piece(next, c)
		}
		i, j = b.a0+k.a1, b.b0+k.b1
	}
	// The gap behind has been nobody's yet.
	p, q := s.oldLines[b.a1], s.nowLines[b.b1]
	t.space(Span{int(p.gap), int(p.from)}, Span{int(q.gap), int(q.from)}, c)
}

// piece compares some lines of a block, without the gap behind them.
func (t *text) piece(b block, c *lineCounter) {
	s := t.scratch
	s.old, s.now = s.old[:0], s.now[:0]
	for _, l := range s.oldLines[b.a0:b.a1] {
		s.old = tokenize(s.old, t.old, int(l.gap), int(l.to))
	}
	for _, l := range s.nowLines[b.b0:b.b1] {
		s.now = tokenize(s.now, t.now, int(l.gap), int(l.to))
	}
	p, q := s.oldLines[b.a1].gap, s.nowLines[b.b1].gap
	s.old, s.now = append(s.old, token{gap: p, from: p, to: p}), append(s.now, token{gap: q, from: q, to: q})
	if len(t.places) < editsMax && len(s.old)+len(s.now) <= hunkMax {
		t.compareTokens(c)
		return
	}
	n, m := len(s.old)-1, len(s.now)-1
	t.add(place{LiteralEdit: LiteralEdit{Span{int(s.old[0].gap), int(s.old[n].from)}, Span{int(s.now[0].gap), int(s.now[m].from)}}}, []byte(wholePattern), c)
}

// skeletons returns keys of lines in which all words are alike, and all numbers.
func skeletons(keys []uint64, text []byte, lines []line) []uint64 {
	var tokens []token
	for _, l := range lines {
		tokens = tokenize(tokens[:0], text, int(l.gap), int(l.to))
		key := uint64(keySeed)
		for _, k := range tokens {
			switch k.kind {
			case word, number:
				key = (key ^ uint64(k.kind)) * keyPrime
			default:
				key = (key ^ k.key) * keyPrime
			}
		}
		keys = append(keys, mix(key))
	}
	return keys
}

// compareTokens finds the edits between the tokens of a hunk.
func (t *text) compareTokens(c *lineCounter) {
	s := t.scratch
	n, m := len(s.old)-1, len(s.now)-1
	s.a, s.b = s.a[:len(s.oldLines)], s.b[:len(s.nowLines)] // the keys of lines stay before
	for _, k := range s.old[:n] {
		s.a = append(s.a, k.key)
	}
	for _, k := range s.now[:m] {
		s.b = append(s.b, k.key)
	}
	a, b := s.a[len(s.oldLines):], s.b[len(s.nowLines):]
	s.inner = s.within(s.inner[:0], a, b, block{0, n, 0, m}, tokensMax, 0)
	h := hunk{text: t, c: c, blocks: s.inner, marks: nil}
	h.merge()
	h.slide()
	h.match()
	h.emit()
	s.inner = h.blocks
}

// A hunk is a range of tokens on both sides, and in what they differ.
type hunk struct {
	*text
	c      *lineCounter
	blocks []block
	marks  [][]byte // the patterns of blocks that have one already
}

// bytesOf returns what a token says.
func (t token) bytes(text []byte) []byte { return text[t.from:t.to] }

// light reports whether a token between two edits does not keep them apart.
func (h *hunk) light(k token) bool {
	return k.kind == sign && !bytes.ContainsAny(k.bytes(h.text.old), "{};")
}

const (
	mergeMax = 4 // light tokens between edits that are one
)

// merge makes one replacement of edits that only light tokens keep apart, if one of
// them removes and one of them adds.
func (h *hunk) merge() {
	out := h.blocks[:0]
	for _, b := range h.blocks {
		if len(out) > 0 && h.mergeable(out[len(out)-1], b) {
			last := &out[len(out)-1]
			last.a1, last.b1 = b.a1, b.b1
			continue
		}
		out = append(out, b)
	}
	h.blocks = out
}

func (h *hunk) mergeable(x, y block) bool {
	if y.a0-x.a1 > mergeMax || x.isPure() && y.isPure() && (x.a0 == x.a1) == (y.a0 == y.a1) {
		return false
	}
	if x.isPair() && y.isPair() {
		return false
	}
	for _, k := range h.scratch.old[x.a1:y.a0] {
		if !h.light(k) {
			return false
		}
	}
	return !h.isMove(x, y)
}

// isPure reports whether a block only removes or only adds.
func (b block) isPure() bool { return b.a0 == b.a1 || b.b0 == b.b1 }

// isPair reports whether it puts one token in the place of one.
func (b block) isPair() bool { return b.a1-b.a0 == 1 && b.b1-b.b0 == 1 }

// isMove reports whether what one removes the other adds.
func (h *hunk) isMove(x, y block) bool {
	if x.a0 == x.a1 {
		x, y = y, x
	}
	if x.b0 != x.b1 || y.a0 != y.a1 || x.a1-x.a0 != y.b1-y.b0 {
		return false
	}
	words := false
	for i := range x.a1 - x.a0 {
		a, b := h.scratch.old[x.a0+i], h.scratch.now[y.b0+i]
		if a.key != b.key {
			return false
		}
		words = words || a.kind != sign
	}
	return words
}
