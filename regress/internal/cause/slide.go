package cause

import (
	"bytes"
	"math"
)

// A slider finds the most readable place of a range of one side: of lines or of tokens.
type slider struct {
	keys  []uint64
	size  func(from, to int) int                          // of a range, in bytes or tokens
	score func(from, to int) (readable int, prefers bool) // prefers: to an equally readable place left of it
}

// slide moves each pure addition and removal to the most readable of its equivalent places. So
// equal changes look equal.
func (h *hunk) slide() {
	s := h.scratch
	of := func(tokens []token, text []byte, keys []uint64) slider {
		size := func(from, to int) int { return to - from }
		return slider{keys, size, func(from, to int) (int, bool) { return scoreTokens(tokens, text, from, to) }}
	}
	slidePure(h.blocks, of(s.old, h.text.old, s.a[len(s.oldLines):]), of(s.now, h.text.now, s.b[len(s.nowLines):]), slideLimit)
	h.slideClosing(h.oldSide())
	h.slideClosing(h.nowSide())
}

// slideLines slides whole lines as slide does tokens.
func (t *text) slideLines(blocks []block, a, b []uint64) {
	of := func(text []byte, lines []line, keys []uint64) slider {
		size := func(from, to int) int { return int(lines[to-1].to - lines[from].from) }
		return slider{keys, size, func(from, to int) (int, bool) { return scoreLines(text, lines[from:to]), false }}
	}
	slidePure(blocks, of(t.old, t.scratch.oldLines, a), of(t.now, t.scratch.nowLines, b), wider)
}

// slidePure slides the pure blocks. limit returns how far a block lets its neighbours slide.
func slidePure(blocks []block, old, now slider, limit func(block) block) {
	for i := range blocks {
		b := &blocks[i]
		lo, hi := block{}, block{a0: len(old.keys), b0: len(now.keys)}
		if i > 0 {
			lo = limit(blocks[i-1])
		}
		if i+1 < len(blocks) {
			hi = limit(blocks[i+1])
		}
		switch {
		case b.a0 == b.a1:
			*b = b.moved(now.best(b.b0, b.b1, lo.b1, hi.b0))
		case b.b0 == b.b1:
			*b = b.moved(old.best(b.a0, b.a1, lo.a1, hi.a0))
		}
	}
}

// slideLimit returns how far a neighbour may slide. It may touch a replacement, and must not become
// part of it.
func slideLimit(b block) block {
	if b.isPure() {
		return wider(b)
	}
	return b
}

// wider returns a block with the equal elements beside it. So that stays apart from others.
func wider(b block) block { return block{b.a0 - 1, b.a1 + 1, b.b0 - 1, b.b1 + 1} }

const (
	slideMax  = 200     // the longest slide, for repetitive sequences
	slideWork = 1 << 16 // slide times length; longer blocks stay
)

// best returns how far to move the range [from, to) within [lo, hi).
func (s slider) best(from, to, lo, hi int) (by int) {
	left, right := 0, 0
	for left > -slideMax && from+left > lo && s.keys[from+left-1] == s.keys[to+left-1] {
		left--
	}
	for right < slideMax && to+right < hi && s.keys[to+right] == s.keys[from+right] {
		right++
	}
	if left == right || (right-left)*s.size(from, to) > slideWork {
		return 0
	}
	most := math.MinInt
	for at := left; at <= right; at++ {
		if v, prefers := s.score(from+at, to+at); v > most || v == most && prefers {
			most, by = v, at
		}
	}
	return by
}

// scoreTokens rates how natural the range looks as an addition or removal. An opening bracket goes right
// and a closing one left, so that a pair stays together.
func scoreTokens(tokens []token, text []byte, from, to int) (v int, prefers bool) {
	opened, closed := unmatched(tokens[from:to], text)
	switch {
	case opened+closed == 0:
		v += 4
	case opened == 0 || closed == 0: // one half of brackets around something
		v += 2
	}
	starts, ends := startsLine(tokens[from], text), startsLine(tokens[to], text)
	switch {
	case starts && ends:
		v += 3
	case starts:
		v++
	}
	if from > 0 && areGlued(tokens[from-1], tokens[from]) {
		v -= 8
	}
	if areGlued(tokens[to-1], tokens[to]) {
		v -= 8
	}
	if tagEnd(tokens[from:to], text) > 0 && string(tokens[to-1].bytes(text)) == ">" {
		v += 2
	}
	if tokens[to].to == tokens[to].from { // the end of the hunk, where a line begins
		v++
	}
	return v, opened > closed
}

func startsLine(k token, text []byte) bool {
	return k.gap == 0 || bytes.IndexByte(text[k.gap:k.from], '\n') >= 0
}

// areGlued reports whether two tokens are pieces of one name.
func areGlued(a, b token) bool {
	return b.gap == b.from && a.kind != sign && b.kind != sign
}

// unmatched counts the brackets that are opened and not closed, and the reverse.
func unmatched(tokens []token, text []byte) (opened, closed int) {
	for _, k := range tokens {
		if opened += bracketOf(k, text); opened < 0 {
			opened, closed = 0, closed+1
		}
	}
	return opened, closed
}

// scoreLines prefers lines that close the brackets they open, and that are indented least.
func scoreLines(text []byte, lines []line) int {
	depth, v := 0, 0
	for _, l := range lines {
		for _, c := range text[l.from:l.to] {
			if depth += bracketSign(c); depth < 0 {
				v = -1000
			}
		}
	}
	if depth != 0 {
		v = -1000
	}
	indent := text[lines[0].gap:lines[0].from]
	return v - len(indent[bytes.LastIndexByte(indent, '\n')+1:])
}

// cutPair splits brackets off a replacement if what remains replaces one token by one. The change of the
// brackets is a change of its own.
func (h *hunk) cutPair(out []block, b block) []block {
	s := h.scratch
	if n, m := b.a1-b.a0, b.b1-b.b0; min(n, m) != 1 || max(n, m) == 1 {
		return append(out, b)
	}
	if first := (block{b.a0, b.a0 + 1, b.b0, b.b0 + 1}); s.old[b.a0].kind == s.now[b.b0].kind && b.a1 < len(s.old)-1 {
		// x → y) != 0 before a bracket is x → y, and != 0) behind it
		switch end := s.old[b.a1].key; {
		case first.b1 < b.b1 && s.now[first.b1].key == end:
			return append(out, first, block{b.a1 + 1, b.a1 + 1, first.b1 + 1, b.b1 + 1})
		case first.a1 < b.a1 && s.old[first.a1].key == end:
			return append(out, first, block{first.a1 + 1, b.a1 + 1, b.b1 + 1, b.b1 + 1})
		}
	}
	x, y := countOpening(s.old[b.a0:b.a1], h.text.old), countOpening(s.now[b.b0:b.b1], h.text.now)
	v, w := countClosing(s.old[b.a0:b.a1], h.text.old), countClosing(s.now[b.b0:b.b1], h.text.now)
	pair := block{b.a0 + x, b.a1 - v, b.b0 + y, b.b1 - w}
	if x+v == 0 && y+w == 0 || !pair.isPair() || x+v > 0 && y+w > 0 || s.old[pair.a0].kind != s.now[pair.b0].kind {
		return append(out, b)
	}
	return appendBlocks(out, block{b.a0, pair.a0, b.b0, pair.b0}, pair, block{pair.a1, b.a1, pair.b1, b.b1})
}

// countOpening returns how many tokens of opening brackets or whole tags the tokens begin with.
func countOpening(tokens []token, text []byte) (n int) {
	for n < len(tokens) {
		size := tagEnd(tokens[n:], text)
		if bracketOf(tokens[n], text) > 0 {
			size = 1
		}
		if size == 0 {
			break
		}
		n += size
	}
	return n
}

// countClosing returns how many tokens of closing brackets or whole tags the tokens end with.
func countClosing(tokens []token, text []byte) (n int) {
	for end := len(tokens); end > 0; end = len(tokens) - n {
		if bracketOf(tokens[end-1], text) < 0 {
			n++
			continue
		}
		from := end - 1
		for from >= 0 && from > end-tagMax && text[tokens[from].from] != '<' {
			from--
		}
		if from < 0 || tagEnd(tokens[from:end], text) != end-from {
			break
		}
		n += end - from
	}
	return n
}

// tagMax bounds the tokens of a tag.
const tagMax = 40

// tagEnd returns the number of tokens of the tag of markup that the tokens begin with, or 0.
func tagEnd(tokens []token, text []byte) int {
	if len(tokens) < 3 || text[tokens[0].from] != '<' || tokens[1].kind != word || tokens[1].gap < tokens[1].from {
		return 0
	}
	if first := string(tokens[0].bytes(text)); first != "<" && first != "</" {
		return 0
	}
	for i, k := range tokens[2:min(len(tokens), tagMax)] {
		switch string(k.bytes(text)) {
		case ">", "/>":
			return i + 3
		case "<", "</", ";":
			return 0
		}
	}
	return 0
}

// bracketOf returns 1 for an opening bracket, -1 for a closing one, and 0 for other tokens.
func bracketOf(k token, text []byte) int {
	if k.kind == sign && k.to-k.from == 1 {
		return bracketSign(text[k.from])
	}
	return 0
}

// bracketSign is bracketOf for a single byte.
func bracketSign(c byte) int {
	switch c {
	case '(', '[', '{':
		return 1
	case ')', ']', '}':
		return -1
	}
	return 0
}

// A side is one side of a hunk, and the places of its blocks there.
type side struct {
	tokens []token
	text   []byte
	in     func(block) (from, to int, pure bool) // pure: the other side is empty
}

func (h *hunk) oldSide() side {
	return side{h.scratch.old, h.text.old, func(b block) (int, int, bool) { return b.a0, b.a1, b.b0 == b.b1 }}
}

func (h *hunk) nowSide() side {
	return side{h.scratch.now, h.text.now, func(b block) (int, int, bool) { return b.b0, b.b1, b.a0 == b.a1 }}
}

// slideClosing moves a closing bracket that was added or removed alone among equal ones. It goes
// where it closes a bracket that also was. If f(x) became f((int)(x)), the new bracket closes the
// one before x, not that of f.
func (h *hunk) slideClosing(s side) {
	var owned []bool // for each token: it closes a bracket in a pure block
	for i := range h.blocks {
		at, to, pure := s.in(h.blocks[i])
		if !pure || to-at != 1 || bracketOf(s.tokens[at], s.text) >= 0 {
			continue
		}
		lo, hi := -1, len(s.tokens)-1
		if i > 0 {
			_, lo, _ = s.in(slideLimit(h.blocks[i-1]))
		}
		if i+1 < len(h.blocks) {
			hi, _, _ = s.in(slideLimit(h.blocks[i+1]))
		}
		lo, hi = max(lo, at-slideMax), min(hi, at+slideMax)
		first, last := at, at
		for first > lo+1 && s.tokens[first-1].key == s.tokens[at].key {
			first--
		}
		for last+1 < hi && s.tokens[last+1].key == s.tokens[at].key {
			last++
		}
		if first == last {
			continue
		}
		if owned == nil {
			owned = h.closersOfPure(s)
		}
		for p := first; p <= last && !owned[at]; p++ {
			if owned[p] {
				h.blocks[i] = h.blocks[i].moved(p - at)
				at = p
			}
		}
	}
}

func (b block) moved(by int) block { return block{b.a0 + by, b.a1 + by, b.b0 + by, b.b1 + by} }

// closersOfPure reports for each token whether it closes a bracket in a pure block.
func (h *hunk) closersOfPure(s side) []bool {
	owned := make([]bool, len(s.tokens))
	h.pairBrackets(s, func(opened, _, at int) {
		if opened >= 0 {
			_, _, owned[at] = s.in(h.blocks[opened])
		}
	})
	return owned
}

// pairBrackets calls visit for each pair of brackets of a side, with the indexes of the blocks that they are
// in, or -1, and the place of the closing one.
func (h *hunk) pairBrackets(s side, visit func(opened, closed, at int)) {
	var open []int
	next := 0
	for at, k := range s.tokens {
		in := -1
		for ; next < len(h.blocks); next++ {
			if from, to, _ := s.in(h.blocks[next]); at < to {
				if at >= from {
					in = next
				}
				break
			}
		}
		switch bracketOf(k, s.text) {
		case 1:
			open = append(open, in)
		case -1:
			if last := len(open) - 1; last >= 0 {
				visit(open[last], in, at)
				open = open[:last]
			}
		}
	}
}
