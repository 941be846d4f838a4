package cause

// cutPairs takes brackets off a replacement that without them is one token for one: what
// they are around is another change.
func (h *hunk) cutPairs() {
	s := h.scratch
	var out []block
	for i, b := range h.blocks {
		if n, m := b.a1-b.a0, b.b1-b.b0; min(n, m) != 1 || max(n, m) == 1 {
			if out != nil {
				out = append(out, b)
			}
			continue
		}
		x, y := opening(s.old[b.a0:b.a1], h.text.old), opening(s.now[b.b0:b.b1], h.text.now)
		v, w := closing(s.old[b.a0:b.a1], h.text.old), closing(s.now[b.b0:b.b1], h.text.now)
		pair := block{b.a0 + x, b.a1 - v, b.b0 + y, b.b1 - w}
		if x+v == 0 && y+w == 0 || !pair.isPair() || x+v > 0 && y+w > 0 {
			if out != nil {
				out = append(out, b)
			}
			continue
		}
		if out == nil {
			out = append(make([]block, 0, len(h.blocks)+2), h.blocks[:i]...)
		}
		for _, c := range [...]block{{b.a0, pair.a0, b.b0, pair.b0}, pair, {pair.a1, b.a1, pair.b1, b.b1}} {
			if !c.isEmpty() {
				out = append(out, c)
			}
		}
	}
	if out != nil {
		h.blocks = out
	}
}

// opening returns how many of the tokens are brackets that open, from the first on.
func opening(tokens []token, text []byte) (n int) {
	for n < len(tokens) && bracketOf(tokens[n], text) > 0 {
		n++
	}
	return n
}

// closing returns how many are brackets that close, up to the last.
func closing(tokens []token, text []byte) (n int) {
	for n < len(tokens) && bracketOf(tokens[len(tokens)-1-n], text) < 0 {
		n++
	}
	return n
}

// bracketOf returns 1 for a bracket that opens, -1 for one that closes, and 0 for what is none.
func bracketOf(k token, text []byte) int {
	if k.kind == sign && k.to-k.from == 1 {
		switch text[k.from] {
		case '(', '[', '{':
			return 1
		case ')', ']', '}':
			return -1
		}
	}
	return 0
}
