package edit

import (
	"bytes"
	"math"

	"muster/regress/internal/align"
	"muster/regress/internal/cause/token"
)

// A slider finds the most readable place of a range of tokens of one side.
type slider struct {
	side
	keys []uint64
	// keepsGaps reports whether whitespace is as on the other side if the range moves. other is what
	// follows the range there. nil = that does not matter.
	keepsGaps func(from, to, other, by int) bool
}

// slide moves each pure addition and removal to the most readable of its equivalent places. So
// equal changes look equal.
func (h *hunk) slide() {
	s := h.scratch
	was, is := h.oldSide(), h.nowSide()
	old, now := slider{was, s.a[len(s.oldLines):], nil}, slider{is, s.b[len(s.nowLines):], nil}
	if s.hasTags() {
		old.keepsGaps, now.keepsGaps = gapKeeper(was, is), gapKeeper(is, was)
	}
	for i := range h.blocks {
		b := &h.blocks[i]
		lo, hi := align.Block{}, align.Block{A0: len(old.keys), B0: len(now.keys)}
		if i > 0 {
			lo = slideLimit(h.blocks[i-1])
		}
		if i+1 < len(h.blocks) {
			hi = slideLimit(h.blocks[i+1])
		}
		switch {
		case b.A0 == b.A1:
			*b = b.Moved(now.best(b.B0, b.B1, lo.B1, hi.B0, b.A0))
		case b.B0 == b.B1:
			*b = b.Moved(old.best(b.A0, b.A1, lo.A1, hi.A0, b.B0))
		}
	}
	h.slideClosing(was)
	h.slideClosing(is)
}

// slideLimit returns how far a neighbour may slide. It may touch a replacement, and must not become
// part of it.
func slideLimit(b align.Block) align.Block {
	if b.IsPure() { // it keeps the equal tokens beside it, and so stays apart
		return align.Range(b.A0-1, b.A1+1, b.B0-1, b.B1+1)
	}
	return b
}

const (
	slideMax  = 200     // the longest slide, for repetitive sequences
	slideWork = 1 << 16 // slide times length; longer blocks stay
)

// gapKeeper returns keepsGaps for a side.
func gapKeeper(x, y side) func(from, to, other, by int) bool {
	isSame := func(i, j int) bool {
		a, b := x.tokens[i], y.tokens[j]
		return bytes.Equal(x.text[a.Gap:a.From], y.text[b.Gap:b.From])
	}
	return func(from, to, other, by int) bool {
		for k := range by {
			if !isSame(from+k, other+k) {
				return false
			}
		}
		for k := by; k < 0; k++ {
			if !isSame(to+k, other+k) {
				return false
			}
		}
		// The gap before the range or that behind it stays, see edges.
		return isSame(to+by, other+by) || isSame(from+by, other+by)
	}
}

// best returns how far to move the range [from, to) within [lo, hi), if other follows it on the other side.
func (s slider) best(from, to, lo, hi, other int) (by int) {
	left, right := 0, 0
	for left > -slideMax && from+left > lo && s.keys[from+left-1] == s.keys[to+left-1] {
		left--
	}
	for right < slideMax && to+right < hi && s.keys[to+right] == s.keys[from+right] {
		right++
	}
	if left == right || (right-left)*(to-from) > slideWork {
		return 0
	}
	most := math.MinInt
	for at := left; at <= right; at++ {
		v, prefers := scoreTokens(s.tokens, s.text, from+at, to+at)
		if s.keepsGaps != nil && !s.keepsGaps(from, to, other, at) {
			v -= 3
		}
		if v > most || v == most && prefers {
			most, by = v, at
		}
	}
	return by
}

// scoreTokens rates how natural the range looks as an addition or removal. It prefers the range to an equally
// natural one left of it if that leaves a bracket open: an opening bracket goes right and a closing one left,
// so that a pair stays together.
func scoreTokens(tokens []token.Token, text []byte, from, to int) (v int, prefers bool) {
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
	if tagEnd(tokens[from:to], text) > 0 && bytes.HasSuffix(tokens[to-1].Bytes(text), []byte(">")) {
		v += 4
	}
	if tokens[to].To == tokens[to].From { // the end of the hunk, where a line begins
		v++
	}
	return v, opened > closed
}

func startsLine(k token.Token, text []byte) bool {
	return k.Gap == 0 || bytes.IndexByte(text[k.Gap:k.From], '\n') >= 0
}

// areGlued reports whether two tokens are pieces of one name.
func areGlued(a, b token.Token) bool {
	return b.Gap == b.From && a.Kind != token.Sign && b.Kind != token.Sign
}

// unmatched counts the brackets and tags that are opened and not closed, and the reverse.
func unmatched(tokens []token.Token, text []byte) (opened, closed int) {
	for i, k := range tokens {
		by := bracketOf(k, text)
		if by == 0 {
			by = tagOf(tokens[i:], text)
		}
		if opened += by; opened < 0 {
			opened, closed = 0, closed+1
		}
	}
	return opened, closed
}

// cutPair splits brackets off a replacement if what remains replaces one token by one. The change of the
// brackets is a change of its own.
func (h *hunk) cutPair(out []align.Block, b align.Block) []align.Block {
	s := h.scratch
	if n, m := b.A1-b.A0, b.B1-b.B0; min(n, m) != 1 || max(n, m) == 1 {
		return append(out, b)
	}
	if first := align.Range(b.A0, b.A0+1, b.B0, b.B0+1); s.old[b.A0].Kind == s.now[b.B0].Kind && b.A1 < len(s.old)-1 {
		// x → y) != 0 before a bracket is x → y, and != 0) behind it
		switch end := s.old[b.A1].Key; {
		case first.B1 < b.B1 && s.now[first.B1].Key == end:
			return append(out, first, align.Range(b.A1+1, b.A1+1, first.B1+1, b.B1+1))
		case first.A1 < b.A1 && s.old[first.A1].Key == end:
			return append(out, first, align.Range(first.A1+1, b.A1+1, b.B1+1, b.B1+1))
		}
	}
	x, y := countOpening(s.old[b.A0:b.A1], h.text.old), countOpening(s.now[b.B0:b.B1], h.text.now)
	v, w := countClosing(s.old[b.A0:b.A1], h.text.old), countClosing(s.now[b.B0:b.B1], h.text.now)
	pair := align.Range(b.A0+x, b.A1-v, b.B0+y, b.B1-w)
	if x+v == 0 && y+w == 0 || !pair.IsPair() || x+v > 0 && y+w > 0 || s.old[pair.A0].Kind != s.now[pair.B0].Kind {
		return append(out, b)
	}
	return appendBlocks(out, align.Range(b.A0, pair.A0, b.B0, pair.B0), pair, align.Range(pair.A1, b.A1, pair.B1, b.B1))
}

// countOpening returns how many tokens of opening brackets or whole tags the tokens begin with.
func countOpening(tokens []token.Token, text []byte) (n int) {
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
func countClosing(tokens []token.Token, text []byte) (n int) {
	for end := len(tokens); end > 0; end = len(tokens) - n {
		if bracketOf(tokens[end-1], text) < 0 {
			n++
			continue
		}
		from := end - 1
		for from >= 0 && from > end-tagMax && text[tokens[from].From] != '<' {
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
func tagEnd(tokens []token.Token, text []byte) int {
	if len(tokens) < 3 || text[tokens[0].From] != '<' || tokens[1].Kind != token.Word || tokens[1].Gap < tokens[1].From {
		return 0
	}
	if first := string(tokens[0].Bytes(text)); first != "<" && first != "</" {
		return 0
	}
	for i, k := range tokens[2:min(len(tokens), tagMax)] {
		switch string(k.Bytes(text)) {
		case ">", "/>":
			return i + 3
		case "<", "</", ";":
			return 0
		}
	}
	return 0
}

// tagOf returns 1 if tokens begin with an opening tag, -1 for a closing one, and 0 for others.
func tagOf(tokens []token.Token, text []byte) int {
	n := tagEnd(tokens, text)
	switch {
	case n == 0, string(tokens[n-1].Bytes(text)) == "/>":
		return 0
	case text[tokens[0].From+1] == '/':
		return -1
	}
	return 1
}

// bracketOf returns 1 for an opening bracket, -1 for a closing one, and 0 for other tokens.
func bracketOf(k token.Token, text []byte) int {
	if k.Kind == token.Sign && k.To-k.From == 1 {
		return bracketSign(text[k.From])
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
	tokens []token.Token
	text   []byte
	in     func(align.Block) (from, to int, pure bool) // pure: the other side is empty
}

func (h *hunk) oldSide() side {
	return side{h.scratch.old, h.text.old, func(b align.Block) (int, int, bool) { return b.A0, b.A1, b.B0 == b.B1 }}
}

func (h *hunk) nowSide() side {
	return side{h.scratch.now, h.text.now, func(b align.Block) (int, int, bool) { return b.B0, b.B1, b.A0 == b.A1 }}
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
		for first > lo+1 && s.tokens[first-1].Key == s.tokens[at].Key {
			first--
		}
		for last+1 < hi && s.tokens[last+1].Key == s.tokens[at].Key {
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
				h.blocks[i] = h.blocks[i].Moved(p - at)
				at = p
			}
		}
	}
}

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
