package cause

import (
	"bytes"
	"cmp"
)

// compareHunk finds the edits between the lines of a block. After the block comes a pair of equal
// lines. The gap before that pair belongs to the hunk.
func (t *text) compareHunk(b block) {
	s := t.scratch
	if s.work > 0 && max(b.a1-b.a0, b.b1-b.b0) > alignMin {
		t.compareAligned(b)
		t.compareGapBehind(b)
		return
	}
	t.compareBlock(b, true)
}

// compareBlock compares the tokens of a block, and if withGap those of the gap after it.
func (t *text) compareBlock(b block, withGap bool) {
	s := t.scratch
	if s.work <= 0 || !t.tokenizeBlock(b, withGap) {
		t.replaceBlock(b, withGap)
		return
	}
	if n := b.a1 - b.a0; n > 1 && n == b.b1-b.b0 && !t.isCheap() {
		t.compareLinePairs(b)
		if withGap {
			t.compareGapBehind(b)
		}
		return
	}
	t.compareTokens()
}

// isCheap reports whether the tokens of a hunk differ by few enough steps to find the shortest edit
// script.
func (t *text) isCheap() bool {
	s := t.scratch
	t.tokenKeys()
	a, b := s.a[len(s.oldLines):], s.b[len(s.nowLines):]
	if len(a)+len(b) <= tokensMax {
		return true
	}
	_, ok := s.myers(s.inner[:0], a, b, block{0, len(a), 0, len(b)}, tokensMax)
	return ok
}

// compareLinePairs compares the lines of a block one by one. Both sides must have the same number
// of lines.
func (t *text) compareLinePairs(b block) {
	for i := range b.a1 - b.a0 {
		t.comparePiece(block{b.a0 + i, b.a0 + i + 1, b.b0 + i, b.b0 + i + 1})
	}
}

// compareGapBehind compares the gap after a block that was compared in pieces.
func (t *text) compareGapBehind(b block) {
	p, q := t.scratch.oldLines[b.a1], t.scratch.nowLines[b.b1]
	t.addGapEdits(Span{int(p.gap), int(p.from)}, Span{int(q.gap), int(q.from)})
}

// tokenizeBlock sets the tokens of a block on both sides. It returns false if they are too many.
func (t *text) tokenizeBlock(b block, withGap bool) bool {
	s := t.scratch
	s.old = blockTokens(s.old, t.old, s.oldLines[b.a0:b.a1+1], withGap)
	s.now = blockTokens(s.now, t.now, s.nowLines[b.b0:b.b1+1], withGap)
	return len(s.old)+len(s.now) <= hunkMax
}

// blockTokens returns the tokens of lines but the last, which follows the block, and a final empty token.
// That has the gap of the last line if withGap.
func blockTokens(tokens []token, text []byte, lines []line, withGap bool) []token {
	tokens = tokens[:0]
	last := len(lines) - 1
	for _, l := range lines[:last] {
		tokens = tokenize(tokens, text, int(l.gap), int(l.to))
	}
	end := lines[last].blockEnd(withGap)
	return append(tokens, token{gap: lines[last].gap, from: end, to: end})
}

// blockEnd returns where the block before a line ends, with or without the gap between them.
func (l line) blockEnd(withGap bool) int32 {
	if withGap {
		return l.from
	}
	return l.gap
}

// replaceBlock makes one edit of a block that is too large to compare.
func (t *text) replaceBlock(b block, withGap bool) {
	s := t.scratch
	old := Span{int(s.oldLines[b.a0].gap), int(s.oldLines[b.a1].blockEnd(withGap))}
	now := Span{int(s.nowLines[b.b0].gap), int(s.nowLines[b.b1].blockEnd(withGap))}
	t.add(place{LiteralEdit: LiteralEdit{old, now}, cut: -1}, []byte(wholePattern))
}

// wholePattern is the pattern of a content that is replaced as a whole.
const wholePattern = string(sortEdit) + " L…\tL…"

// compareAligned compares a block of many different lines. It pairs lines that differ only in words
// and numbers.
func (t *text) compareAligned(b block) {
	s := t.scratch
	x, y := skeletons(nil, t.old, s.oldLines[b.a0:b.a1]), skeletons(nil, t.now, s.nowLines[b.b0:b.b1])
	i, j := b.a0, b.b0
	blocks := append(s.compare(x, y, linesMax), block{len(x), len(x), len(y), len(y)})
	for _, k := range blocks {
		for ; i < b.a0+k.a0; i, j = i+1, j+1 {
			t.comparePiece(block{i, i + 1, j, j + 1})
		}
		if next := (block{i, b.a0 + k.a1, j, b.b0 + k.b1}); next.a0 < next.a1 || next.b0 < next.b1 {
			t.comparePiece(next)
		}
		i, j = b.a0+k.a1, b.b0+k.b1
	}
}

// comparePiece compares some lines of a block, without the gap after them.
func (t *text) comparePiece(b block) {
	if n := b.a1 - b.a0; n > alignMin && n == b.b1-b.b0 {
		t.compareLinePairs(b)
		return
	}
	t.compareBlock(b, false)
}

// skeletons returns keys of lines that ignore which words and numbers they have.
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

// tokenKeys appends the keys of the tokens to those of the lines.
func (t *text) tokenKeys() {
	s := t.scratch
	s.a, s.b = s.a[:len(s.oldLines)], s.b[:len(s.nowLines)]
	for _, k := range s.old[:len(s.old)-1] {
		s.a = append(s.a, k.key)
	}
	for _, k := range s.now[:len(s.now)-1] {
		s.b = append(s.b, k.key)
	}
}

// tokenWork is the cost of a token besides its comparison, in steps.
const tokenWork = 8

// compareTokens finds the edits between the tokens of a hunk.
func (t *text) compareTokens() {
	s := t.scratch
	n, m := len(s.old)-1, len(s.now)-1
	t.tokenKeys()
	s.work -= tokenWork * (n + m)
	a, b := s.a[len(s.oldLines):], s.b[len(s.nowLines):]
	s.inner = s.compareRange(s.inner[:0], a, b, block{0, n, 0, m}, tokensMax, 0)
	s.oldStarts, s.nowStarts = indexLines(s.oldStarts, s.old, t.old), indexLines(s.nowStarts, s.now, t.now)
	s.inner = s.keepLines(s.inner, a, b, s.oldStarts, s.nowStarts, tokensMax)
	h := hunk{text: t, blocks: s.inner}
	h.mergeBlocks()
	h.cutEach(h.cutLine)
	h.cutEach(h.cutPair)
	h.slide()
	h.match()
	h.emit()
	s.inner = h.blocks
}

// indexLines returns the indexes of the tokens that begin a line, and of the final empty one, in the
// memory of starts.
func indexLines(starts []int, tokens []token, text []byte) []int {
	starts = starts[:0]
	last := len(tokens) - 1
	for i, k := range tokens[:last] {
		if i == 0 || startsLine(k, text) {
			starts = append(starts, i)
		}
	}
	return append(starts, last)
}

// A hunk is a range of tokens on both sides, and the blocks in which they differ.
type hunk struct {
	*text
	blocks []block
	marks  map[int]mark // of blocks that already have a pattern
}

// A mark is a pattern with its spaces.
type mark struct {
	key    []byte
	spaces spaces
}

// bytes returns the text of a token.
func (t token) bytes(text []byte) []byte { return text[t.from:t.to] }

// isLight reports whether a token between two edits does not separate them.
func (h *hunk) isLight(k token) bool {
	return k.kind == sign && !bytes.ContainsAny(k.bytes(h.text.old), "{};")
}

const (
	mergeMax = 4 // light tokens between edits that become one
)

// mergeBlocks makes one replacement of a removal and an addition that only light tokens separate.
func (h *hunk) mergeBlocks() {
	out := h.blocks[:0]
	for _, b := range h.blocks {
		if len(out) > 0 && h.canMerge(out[len(out)-1], b) {
			last := &out[len(out)-1]
			last.a1, last.b1 = b.a1, b.b1
			continue
		}
		out = append(out, b)
	}
	h.blocks = out
}

func (h *hunk) canMerge(x, y block) bool {
	if y.a0-x.a1 > mergeMax || x.isPure() && y.isPure() && (x.a0 == x.a1) == (y.a0 == y.a1) {
		return false
	}
	if x.isPair() && (y.isPair() || y.isPure()) || y.isPair() && x.isPure() {
		return false
	}
	for _, k := range h.scratch.old[x.a1:y.a0] {
		if !h.isLight(k) {
			return false
		}
	}
	// A line that begins between them on both sides keeps them apart.
	for i := range y.a0 - x.a1 + 1 {
		if startsLine(h.scratch.old[x.a1+i], h.text.old) && startsLine(h.scratch.now[x.b1+i], h.text.now) {
			return false
		}
	}
	return !h.isMove(x, y)
}

// isPure reports whether a block only removes or only adds.
func (b block) isPure() bool { return b.a0 == b.a1 || b.b0 == b.b1 }

// isPair reports whether a block replaces one token by one.
func (b block) isPair() bool { return b.a1-b.a0 == 1 && b.b1-b.b0 == 1 }

// isMove reports whether one block adds what the other removes.
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

// cutEach replaces each block by the blocks that cut appends for it.
func (h *hunk) cutEach(cut func(out []block, b block) []block) {
	out := h.scratch.cuts[:0]
	for _, b := range h.blocks {
		out = cut(out, b)
	}
	h.scratch.cuts, h.blocks = h.blocks, out
}

// cutLine splits tokens off the front of a replacement: those that only one side has on a line of their own,
// or at the end of the line before, and those before the last line, if the lines continue equally.
func (h *hunk) cutLine(out []block, b block) []block {
	s := h.scratch
	if b.isPure() {
		return append(out, b)
	}
	oldStarts, nowStarts := startsLine(s.old[b.a0], h.text.old), startsLine(s.now[b.b0], h.text.now)
	oldFirst, oldLast := lineStarts(s.old[b.a0:b.a1], h.text.old)
	nowFirst, nowLast := lineStarts(s.now[b.b0:b.b1], h.text.now)
	rest := b
	switch {
	case oldStarts && !nowStarts:
		rest.b0 += nowFirst
	case nowStarts && !oldStarts:
		rest.a0 += oldFirst
	case oldStarts && (oldLast == 0 || nowLast == 0) && !startsLine(s.old[b.a1], h.text.old) && !startsLine(s.now[b.b1], h.text.now):
		rest.a0, rest.b0 = b.a0+oldLast, b.b0+nowLast
	}
	return appendBlocks(out, block{b.a0, rest.a0, b.b0, rest.b0}, rest)
}

// appendBlocks appends those blocks that are not empty.
func appendBlocks(out []block, blocks ...block) []block {
	for _, b := range blocks {
		if b.a0 < b.a1 || b.b0 < b.b1 {
			out = append(out, b)
		}
	}
	return out
}

// lineStarts returns the indexes of the first and the last token that begin a line after the first token,
// or 0.
func lineStarts(tokens []token, text []byte) (first, last int) {
	for i := 1; i < len(tokens); i++ {
		if startsLine(tokens[i], text) {
			first, last = cmp.Or(first, i), i
		}
	}
	return first, last
}
