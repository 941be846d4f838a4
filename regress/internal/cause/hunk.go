package cause

import (
	"bytes"
)

// compareHunk finds the edits between the lines of a block. After the block comes a pair of equal
// lines. The gap before that pair belongs to the hunk.
func (t *text) compareHunk(b block, c *lineCounter) {
	s := t.scratch
	if s.work <= 0 {
		t.replaceBlock(b, c)
		return
	}
	if b.a1-b.a0 > alignMin || b.b1-b.b0 > alignMin {
		t.compareAligned(b, c)
		return
	}
	s.old = t.hunkTokens(s.old, t.old, s.oldLines[b.a0:b.a1+1])
	s.now = t.hunkTokens(s.now, t.now, s.nowLines[b.b0:b.b1+1])
	if len(s.old)+len(s.now) > hunkMax {
		t.replaceBlock(b, c)
		return
	}
	if n := b.a1 - b.a0; n > 1 && n == b.b1-b.b0 && !t.isCheap() {
		t.compareLinePairs(b, c)
		t.compareGapBehind(b, c)
		return
	}
	t.compareTokens(c)
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
func (t *text) compareLinePairs(b block, c *lineCounter) {
	for i := range b.a1 - b.a0 {
		t.comparePiece(block{b.a0 + i, b.a0 + i + 1, b.b0 + i, b.b0 + i + 1}, c)
	}
}

// compareGapBehind compares the gap after a block that was compared in pieces.
func (t *text) compareGapBehind(b block, c *lineCounter) {
	p, q := t.scratch.oldLines[b.a1], t.scratch.nowLines[b.b1]
	t.addGapEdits(Span{int(p.gap), int(p.from)}, Span{int(q.gap), int(q.from)}, c)
}

// hunkTokens returns the tokens of lines. Of the last line, which follows the block, it returns
// only the gap, as an empty token.
func (t *text) hunkTokens(tokens []token, text []byte, lines []line) []token {
	tokens = tokens[:0]
	last := len(lines) - 1
	for _, l := range lines[:last] {
		tokens = tokenize(tokens, text, int(l.gap), int(l.to))
	}
	return append(tokens, token{gap: lines[last].gap, from: lines[last].from, to: lines[last].from})
}

// replaceBlock makes one edit of a block that is too large to compare.
func (t *text) replaceBlock(b block, c *lineCounter) {
	s := t.scratch
	old := Span{int(s.oldLines[b.a0].gap), int(s.oldLines[b.a1].from)}
	now := Span{int(s.nowLines[b.b0].gap), int(s.nowLines[b.b1].from)}
	t.add(place{LiteralEdit: LiteralEdit{old, now}, cut: -1}, []byte(wholePattern), c)
}

// wholePattern is the pattern of a content that is replaced as a whole.
const wholePattern = string(sortEdit) + " L…\tL…"

// compareAligned compares a block of many different lines. It pairs lines that differ only in words
// and numbers.
func (t *text) compareAligned(b block, c *lineCounter) {
	s := t.scratch
	x, y := skeletons(nil, t.old, s.oldLines[b.a0:b.a1]), skeletons(nil, t.now, s.nowLines[b.b0:b.b1])
	i, j := b.a0, b.b0
	blocks := append(s.compare(x, y, linesMax), block{len(x), len(x), len(y), len(y)})
	for _, k := range blocks {
		for ; i < b.a0+k.a0; i, j = i+1, j+1 {
			t.comparePiece(block{i, i + 1, j, j + 1}, c)
		}
		if next := (block{i, b.a0 + k.a1, j, b.b0 + k.b1}); next.a0 < next.a1 || next.b0 < next.b1 {
			t.comparePiece(next, c)
		}
		i, j = b.a0+k.a1, b.b0+k.b1
	}
	t.compareGapBehind(b, c)
}

// comparePiece compares some lines of a block, without the gap after them.
func (t *text) comparePiece(b block, c *lineCounter) {
	s := t.scratch
	n := b.a1 - b.a0
	pairs := n > 1 && n == b.b1-b.b0
	if pairs && n > alignMin {
		t.compareLinePairs(b, c)
		return
	}
	s.old = pieceTokens(s.old, t.old, s.oldLines[b.a0:b.a1+1])
	s.now = pieceTokens(s.now, t.now, s.nowLines[b.b0:b.b1+1])
	switch {
	case s.work <= 0 || len(s.old)+len(s.now) > hunkMax:
		old := Span{int(s.old[0].gap), int(s.old[len(s.old)-1].from)}
		now := Span{int(s.now[0].gap), int(s.now[len(s.now)-1].from)}
		t.add(place{LiteralEdit: LiteralEdit{old, now}, cut: -1}, []byte(wholePattern), c)
	case pairs && !t.isCheap():
		t.compareLinePairs(b, c)
	default:
		t.compareTokens(c)
	}
}

// pieceTokens returns the tokens of lines and a final empty token. It ignores the last line, which
// follows the block.
func pieceTokens(tokens []token, text []byte, lines []line) []token {
	tokens = tokens[:0]
	last := len(lines) - 1
	for _, l := range lines[:last] {
		tokens = tokenize(tokens, text, int(l.gap), int(l.to))
	}
	gap := lines[last].gap
	return append(tokens, token{gap: gap, from: gap, to: gap})
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
func (t *text) compareTokens(c *lineCounter) {
	s := t.scratch
	n, m := len(s.old)-1, len(s.now)-1
	t.tokenKeys()
	s.work -= tokenWork * (n + m)
	a, b := s.a[len(s.oldLines):], s.b[len(s.nowLines):]
	s.inner = s.compareRange(s.inner[:0], a, b, block{0, n, 0, m}, tokensMax, 0)
	s.oldStarts, s.nowStarts = lineStarts(s.oldStarts, s.old, t.old), lineStarts(s.nowStarts, s.now, t.now)
	s.inner = s.keepLines(s.inner, a, b, s.oldStarts, s.nowStarts)
	h := hunk{text: t, c: c, blocks: s.inner, marks: nil}
	h.mergeBlocks()
	h.cutLines()
	h.cutPairs()
	h.slide()
	h.match()
	h.emit()
	s.inner = h.blocks
}

// A hunk is a range of tokens on both sides, and the blocks in which they differ.
type hunk struct {
	*text
	c      *lineCounter
	blocks []block
	marks  []mark // of blocks that already have a pattern
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

// cutLines splits tokens off a replacement that only one side has on a line of their own, or at the
// end of the line before.
func (h *hunk) cutLines() {
	h.cutEach(func(out []block, b block) []block {
		cut, rest := h.cutLine(b)
		if !cut.isEmpty() {
			out = append(out, cut)
		}
		return append(out, rest)
	})
}

// cutEach replaces each block by the blocks that cut appends for it.
func (h *hunk) cutEach(cut func(out []block, b block) []block) {
	out := h.scratch.cuts[:0]
	for _, b := range h.blocks {
		out = cut(out, b)
	}
	h.scratch.cuts, h.blocks = h.blocks, out
}

// cutLine returns the part that is split off the front of a replacement, and the rest.
func (h *hunk) cutLine(b block) (cut, rest block) {
	s := h.scratch
	if b.isPure() {
		return block{}, b
	}
	switch old, now := startsLine(s.old[b.a0], h.text.old), startsLine(s.now[b.b0], h.text.now); {
	case old && !now:
		if at := lineWithin(s.now[b.b0:b.b1], h.text.now); at > 0 {
			return block{b.a0, b.a0, b.b0, b.b0 + at}, block{b.a0, b.a1, b.b0 + at, b.b1}
		}
	case now && !old:
		if at := lineWithin(s.old[b.a0:b.a1], h.text.old); at > 0 {
			return block{b.a0, b.a0 + at, b.b0, b.b0}, block{b.a0 + at, b.a1, b.b0, b.b1}
		}
	default:
		if x := h.leadingLines(b); !x.isEmpty() {
			return x, block{x.a1, b.a1, x.b1, b.b1}
		}
	}
	return block{}, b
}

// leadingLines returns what a replacement has before its last line, if only one side has it and the
// lines continue equally on both sides. Otherwise it returns an empty block.
func (h *hunk) leadingLines(b block) block {
	s := h.scratch
	if startsLine(s.old[b.a1], h.text.old) || startsLine(s.now[b.b1], h.text.now) {
		return block{}
	}
	x, y := lastLine(s.old[b.a0:b.a1], h.text.old), lastLine(s.now[b.b0:b.b1], h.text.now)
	switch {
	case x > 0 && y == 0 && startsLine(s.now[b.b0], h.text.now) && startsLine(s.old[b.a0], h.text.old):
		return block{b.a0, b.a0 + x, b.b0, b.b0}
	case y > 0 && x == 0 && startsLine(s.now[b.b0], h.text.now) && startsLine(s.old[b.a0], h.text.old):
		return block{b.a0, b.a0, b.b0, b.b0 + y}
	}
	return block{}
}

func (b block) isEmpty() bool { return b.a0 == b.a1 && b.b0 == b.b1 }

// lastLine returns the index of the last token that begins a line after the first token, or 0.
func lastLine(tokens []token, text []byte) int {
	for i := len(tokens) - 1; i > 0; i-- {
		if startsLine(tokens[i], text) {
			return i
		}
	}
	return 0
}

// lineWithin returns the index of the first token that begins a line after the first token, or 0.
func lineWithin(tokens []token, text []byte) int {
	for i := 1; i < len(tokens); i++ {
		if startsLine(tokens[i], text) {
			return i
		}
	}
	return 0
}
