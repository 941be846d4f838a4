package cause

// cutPairs splits brackets off a replacement if what remains replaces one token by one. The change
// of the brackets is a change of its own.
func (h *hunk) cutPairs() { h.cutEach(h.cutPair) }

func (h *hunk) cutPair(out []block, b block) []block {
	s := h.scratch
	if n, m := b.a1-b.a0, b.b1-b.b0; min(n, m) != 1 || max(n, m) == 1 {
		return append(out, b)
	}
	x, y := countOpening(s.old[b.a0:b.a1], h.text.old), countOpening(s.now[b.b0:b.b1], h.text.now)
	v, w := countClosing(s.old[b.a0:b.a1], h.text.old), countClosing(s.now[b.b0:b.b1], h.text.now)
	pair := block{b.a0 + x, b.a1 - v, b.b0 + y, b.b1 - w}
	if x+v == 0 && y+w == 0 || !pair.isPair() || x+v > 0 && y+w > 0 {
		return append(out, b)
	}
	for _, c := range [...]block{{b.a0, pair.a0, b.b0, pair.b0}, pair, {pair.a1, b.a1, pair.b1, b.b1}} {
		if !c.isEmpty() {
			out = append(out, c)
		}
	}
	return out
}

// countOpening returns how many opening brackets the tokens begin with.
func countOpening(tokens []token, text []byte) (n int) {
	for n < len(tokens) && bracketOf(tokens[n], text) > 0 {
		n++
	}
	return n
}

// countClosing returns how many closing brackets the tokens end with.
func countClosing(tokens []token, text []byte) (n int) {
	for n < len(tokens) && bracketOf(tokens[len(tokens)-1-n], text) < 0 {
		n++
	}
	return n
}

// bracketOf returns 1 for an opening bracket, -1 for a closing one, and 0 for other tokens.
func bracketOf(k token, text []byte) int {
	if k.kind == sign && k.to-k.from == 1 {
		return bracketAt(text, int(k.from))
	}
	return 0
}

// bracketAt is bracketOf for a single byte.
func bracketAt(text []byte, at int) int {
	switch text[at] {
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
	var open []bool
	next := 0
	for at, k := range s.tokens {
		pure := false
		for ; next < len(h.blocks); next++ {
			from, to, isPure := s.in(h.blocks[next])
			if at < to {
				pure = isPure && at >= from
				break
			}
		}
		switch bracketOf(k, s.text) {
		case 1:
			open = append(open, pure)
		case -1:
			if last := len(open) - 1; last >= 0 {
				owned[at], open = open[last], open[:last]
			}
		}
	}
	return owned
}
