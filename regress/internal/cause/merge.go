package cause

import "bytes"

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
