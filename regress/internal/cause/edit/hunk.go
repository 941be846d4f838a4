package edit

import (
	"bytes"
	"cmp"

	"muster/regress/internal/align"
	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// compareHunk finds the edits between the lines of a block. After the block comes a pair of equal
// lines. The gap before that pair belongs to the hunk.
func (t *text) compareHunk(b align.Block) {
	s := t.scratch
	if s.Work > 0 && max(b.A1-b.A0, b.B1-b.B0) > alignMin {
		t.compareAligned(b)
		t.compareGapBehind(b)
		return
	}
	t.compareBlock(b, true)
}

// compareBlock compares the tokens of a block, and if withGap those of the gap after it.
func (t *text) compareBlock(b align.Block, withGap bool) {
	s := t.scratch
	if s.Work <= 0 || !t.tokenizeBlock(b, withGap) {
		t.replaceBlock(b, withGap)
		return
	}
	x, y := wholeLines(t.old, s.oldLines[b.A0:b.A1]), wholeLines(t.now, s.nowLines[b.B0:b.B1])
	if n := len(x); n > 2 && n == len(y) && !t.isCheap() {
		for i := range n - 1 {
			t.comparePiece(align.Range(b.A0+x[i], b.A0+x[i+1], b.B0+y[i], b.B0+y[i+1]))
		}
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
	a, b := s.units[0].keys, s.units[1].keys
	return len(a)+len(b) <= tokensMax || s.IsShort(a, b, tokensMax)
}

// wholeLines returns the indexes of the pieces that begin a line, see lineMax, and the number of pieces.
func wholeLines(text []byte, pieces []line) (starts []int) {
	for i, l := range pieces {
		if i == 0 || bytes.IndexByte(text[l.gap:l.from], '\n') >= 0 {
			starts = append(starts, i)
		}
	}
	return append(starts, len(pieces))
}

// compareGapBehind compares the gap after a block that was compared in pieces.
func (t *text) compareGapBehind(b align.Block) {
	p, q := t.scratch.oldLines[b.A1], t.scratch.nowLines[b.B1]
	t.addGapEdits(Span{int(p.gap), int(p.from)}, Span{int(q.gap), int(q.from)})
}

// tokenizeBlock sets the tokens of a block on both sides. It returns false if they are too many.
func (t *text) tokenizeBlock(b align.Block, withGap bool) bool {
	s := t.scratch
	s.old = blockTokens(s.old, t.old, s.oldLines[b.A0:b.A1+1], withGap)
	s.now = blockTokens(s.now, t.now, s.nowLines[b.B0:b.B1+1], withGap)
	return len(s.old)+len(s.now) <= hunkMax
}

// blockTokens returns the tokens of lines but the last, which follows the block, and a final empty token.
// That has the gap of the last line if withGap.
func blockTokens(tokens []token.Token, text []byte, lines []line, withGap bool) []token.Token {
	tokens = tokens[:0]
	last := len(lines) - 1
	for _, l := range lines[:last] {
		tokens = token.Append(tokens, text, int(l.gap), int(l.to))
	}
	end := lines[last].blockEnd(withGap)
	return append(tokens, token.Token{Gap: lines[last].gap, From: end, To: end})
}

// blockEnd returns where the block before a line ends, with or without the gap between them.
func (l line) blockEnd(withGap bool) int32 {
	if withGap {
		return l.from
	}
	return l.gap
}

// replaceBlock makes one edit of a block that is too large to compare.
func (t *text) replaceBlock(b align.Block, withGap bool) {
	s := t.scratch
	old := Span{int(s.oldLines[b.A0].gap), int(s.oldLines[b.A1].blockEnd(withGap))}
	now := Span{int(s.nowLines[b.B0].gap), int(s.nowLines[b.B1].blockEnd(withGap))}
	t.add(Place{LiteralEdit: LiteralEdit{old, now}, Cut: -1}, []byte(wholePattern))
}

// wholePattern is the pattern of a content that is replaced as a whole.
const wholePattern = string(pattern.Edit) + " L…\tL…"

// compareAligned compares a block of many different lines. It pairs lines that differ only in words
// and numbers.
func (t *text) compareAligned(b align.Block) {
	s := t.scratch
	x, y := skeletons(nil, t.old, s.oldLines[b.A0:b.A1]), skeletons(nil, t.now, s.nowLines[b.B0:b.B1])
	i, j := b.A0, b.B0
	blocks := append(s.Blocks(x, y, linesMax), align.Range(len(x), len(x), len(y), len(y)))
	for _, k := range blocks {
		for ; i < b.A0+k.A0; i, j = i+1, j+1 {
			t.comparePiece(align.Range(i, i+1, j, j+1))
		}
		if next := align.Range(i, b.A0+k.A1, j, b.B0+k.B1); next.A0 < next.A1 || next.B0 < next.B1 {
			t.comparePiece(next)
		}
		i, j = b.A0+k.A1, b.B0+k.B1
	}
}

// comparePiece compares some lines of a block, without the gap after them.
func (t *text) comparePiece(b align.Block) {
	if n := b.A1 - b.A0; n > alignMin && n == b.B1-b.B0 {
		for i := range n {
			t.comparePiece(align.Range(b.A0+i, b.A0+i+1, b.B0+i, b.B0+i+1))
		}
		return
	}
	t.compareBlock(b, false)
}

// skeletons returns keys of lines that ignore which words and numbers they have.
func skeletons(keys []uint64, text []byte, lines []line) []uint64 {
	var tokens []token.Token
	for _, l := range lines {
		tokens = token.Append(tokens[:0], text, int(l.gap), int(l.to))
		key := uint64(token.KeySeed)
		for _, k := range tokens {
			switch k.Kind {
			case token.Word, token.Number:
				key = (key ^ uint64(k.Kind)) * token.KeyPrime
			default:
				key = (key ^ k.Key) * token.KeyPrime
			}
		}
		keys = append(keys, token.Mix(key))
	}
	return keys
}

// tokenKeys appends the keys of the tokens to those of the lines.
func (t *text) tokenKeys() {
	s := t.scratch
	s.a, s.b = s.a[:len(s.oldLines)], s.b[:len(s.nowLines)]
	for _, k := range s.old[:len(s.old)-1] {
		s.a = append(s.a, k.Key)
	}
	for _, k := range s.now[:len(s.now)-1] {
		s.b = append(s.b, k.Key)
	}
	tags := hasClosingTag(s.old, t.old) || hasClosingTag(s.now, t.now)
	s.units[0].set(s.old, t.old, s.a[len(s.oldLines):], tags)
	s.units[1].set(s.now, t.now, s.b[len(s.nowLines):], tags)
}

// units are the tokens of a side as they are aligned: each tag of markup is one.
type units struct {
	keys   []uint64
	starts []int // the first token of each, and the final one
	memory []uint64
}

func (u *units) set(tokens []token.Token, text []byte, keys []uint64, tags bool) {
	u.keys, u.starts = u.memory[:0], u.starts[:0]
	last := len(tokens) - 1
	for i := 0; i < last; {
		u.starts = append(u.starts, i)
		key, size := keys[i], 1
		if tags {
			size = max(1, tagEnd(tokens[i:last], text))
		}
		for _, k := range keys[i+1 : i+size] {
			key = token.Mix((key ^ k) * token.KeyPrime)
		}
		u.keys = append(u.keys, key)
		i += size
	}
	u.starts, u.memory = append(u.starts, last), u.keys
}

// hasClosingTag reports whether tokens are of markup.
func hasClosingTag(tokens []token.Token, text []byte) bool {
	for i, k := range tokens {
		if k.To-k.From == 2 && text[k.From] == '<' && text[k.From+1] == '/' && tagEnd(tokens[i:], text) > 0 {
			return true
		}
	}
	return false
}

// hasTags reports whether some unit of the hunk is a tag.
func (s *Comparer) hasTags() bool {
	return len(s.units[0].keys) < len(s.old)-1 || len(s.units[1].keys) < len(s.now)-1
}

// refine returns blocks of units as blocks of tokens, and compares inside those that replace something.
func (s *Comparer) refine(blocks []align.Block, a, b []uint64) []align.Block {
	x, y := s.units[0].starts, s.units[1].starts
	var out []align.Block
	for _, k := range blocks {
		k = align.Range(x[k.A0], x[k.A1], y[k.B0], y[k.B1])
		if k.IsPure() {
			out = append(out, k)
		} else {
			out = s.Append(out, a, b, k, tokensMax)
		}
	}
	return align.Join(out)
}

// tokenWork is the cost of a token besides its comparison, in steps.
const tokenWork = 8

// compareTokens finds the edits between the tokens of a hunk.
func (t *text) compareTokens() {
	s := t.scratch
	n, m := len(s.old)-1, len(s.now)-1
	t.tokenKeys()
	s.Work -= tokenWork * (n + m)
	a, b := s.a[len(s.oldLines):], s.b[len(s.nowLines):]
	u, v := &s.units[0], &s.units[1]
	s.inner = s.Append(s.inner[:0], u.keys, v.keys, align.Block{A1: len(u.keys), B1: len(v.keys)}, tokensMax)
	s.oldStarts, s.nowStarts = u.indexLines(s.oldStarts, s.old, t.old), v.indexLines(s.nowStarts, s.now, t.now)
	s.inner = s.KeepLines(s.inner, u.keys, v.keys, s.oldStarts, s.nowStarts, tokensMax)
	if s.hasTags() {
		s.inner = s.refine(s.inner, a, b)
	}
	h := hunk{text: t, blocks: s.inner}
	h.mergeBlocks()
	h.cutEach(h.cutLine)
	h.cutEach(h.cutPair)
	h.slide()
	h.match()
	h.emit()
	s.inner = h.blocks
}

// indexLines returns the indexes of the units that begin a line, and of the final empty one, in the
// memory of starts.
func (u *units) indexLines(starts []int, tokens []token.Token, text []byte) []int {
	starts = starts[:0]
	last := len(u.keys)
	for i, at := range u.starts[:last] {
		if i == 0 || startsLine(tokens[at], text) {
			starts = append(starts, i)
		}
	}
	return append(starts, last)
}

// A hunk is a range of tokens on both sides, and the blocks in which they differ.
type hunk struct {
	*text
	blocks []align.Block
	marks  map[int]mark // of blocks that already have a pattern
}

// A mark is a pattern with its spaces.
type mark struct {
	key    []byte
	spaces pattern.Spaces
}

// isLight reports whether a token between two edits does not separate them.
func (h *hunk) isLight(k token.Token) bool {
	return k.Kind == token.Sign && !bytes.ContainsAny(k.Bytes(h.text.old), "{};")
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
			last.A1, last.B1 = b.A1, b.B1
			continue
		}
		out = append(out, b)
	}
	h.blocks = out
}

func (h *hunk) canMerge(x, y align.Block) bool {
	if y.A0-x.A1 > mergeMax || x.IsPure() && y.IsPure() && (x.A0 == x.A1) == (y.A0 == y.A1) {
		return false
	}
	if x.IsPair() && (y.IsPair() || y.IsPure()) || y.IsPair() && x.IsPure() {
		return false
	}
	for _, k := range h.scratch.old[x.A1:y.A0] {
		if !h.isLight(k) {
			return false
		}
	}
	// A line that begins between them on both sides keeps them apart.
	for i := range y.A0 - x.A1 + 1 {
		if startsLine(h.scratch.old[x.A1+i], h.text.old) && startsLine(h.scratch.now[x.B1+i], h.text.now) {
			return false
		}
	}
	return !h.isMove(x, y)
}

// isMove reports whether one block adds what the other removes.
func (h *hunk) isMove(x, y align.Block) bool {
	if x.A0 == x.A1 {
		x, y = y, x
	}
	if x.B0 != x.B1 || y.A0 != y.A1 || x.A1-x.A0 != y.B1-y.B0 {
		return false
	}
	words := false
	for i := range x.A1 - x.A0 {
		a, b := h.scratch.old[x.A0+i], h.scratch.now[y.B0+i]
		if a.Key != b.Key {
			return false
		}
		words = words || a.Kind != token.Sign
	}
	return words
}

// cutEach replaces each block by the blocks that cut appends for it.
func (h *hunk) cutEach(cut func(out []align.Block, b align.Block) []align.Block) {
	out := h.scratch.cuts[:0]
	for _, b := range h.blocks {
		out = cut(out, b)
	}
	h.scratch.cuts, h.blocks = h.blocks, out
}

// cutLine splits tokens off the front of a replacement: those that only one side has on a line of their own,
// or at the end of the line before, and those before the last line, if the lines continue equally.
func (h *hunk) cutLine(out []align.Block, b align.Block) []align.Block {
	s := h.scratch
	if b.IsPure() {
		return append(out, b)
	}
	oldStarts, nowStarts := startsLine(s.old[b.A0], h.text.old), startsLine(s.now[b.B0], h.text.now)
	oldFirst, oldLast := lineStarts(s.old[b.A0:b.A1], h.text.old)
	nowFirst, nowLast := lineStarts(s.now[b.B0:b.B1], h.text.now)
	rest := b
	switch {
	case oldStarts && !nowStarts:
		rest.B0 += nowFirst
	case nowStarts && !oldStarts:
		rest.A0 += oldFirst
	case oldStarts && (oldLast == 0 || nowLast == 0) && !startsLine(s.old[b.A1], h.text.old) && !startsLine(s.now[b.B1], h.text.now):
		rest.A0, rest.B0 = b.A0+oldLast, b.B0+nowLast
	}
	return appendBlocks(out, align.Range(b.A0, rest.A0, b.B0, rest.B0), rest)
}

// appendBlocks appends those blocks that are not empty.
func appendBlocks(out []align.Block, blocks ...align.Block) []align.Block {
	for _, b := range blocks {
		if b.A0 < b.A1 || b.B0 < b.B1 {
			out = append(out, b)
		}
	}
	return out
}

// lineStarts returns the indexes of the first and the last token that begin a line after the first token,
// or 0.
func lineStarts(tokens []token.Token, text []byte) (first, last int) {
	for i := 1; i < len(tokens); i++ {
		if startsLine(tokens[i], text) {
			first, last = cmp.Or(first, i), i
		}
	}
	return first, last
}
