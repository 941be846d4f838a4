package cause

// cutPairs takes brackets off a replacement that without them is one token for one.
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

// cutBrackets takes a bracket off the end of a replacement, or off its beginning, if the
// other one of the two was added, or removed, by itself: something was put around what
// has changed, and that is another change.
func (h *hunk) cutBrackets() {
	if len(h.blocks) < 2 {
		return
	}
	s := h.scratch
	h.cutSide(s.now, h.text.now, func(b *block) (from, to *int, pure bool) { return &b.b0, &b.b1, b.a0 == b.a1 })
	h.cutSide(s.old, h.text.old, func(b *block) (from, to *int, pure bool) { return &b.a0, &b.a1, b.b0 == b.b1 })
}

// cutSide does so on one side, of whose tokens a block has a range.
func (h *hunk) cutSide(tokens []token, text []byte, side func(*block) (from, to *int, pure bool)) {
	var ends []int // tokens that may be cut off
	for i := range h.blocks {
		b := h.blocks[i]
		if from, to, _ := side(&b); !b.isPure() && *to-*from > 1 {
			if bracketOf(tokens[*to-1], text) < 0 {
				ends = append(ends, *to-1)
			}
			if bracketOf(tokens[*from], text) > 0 {
				ends = append(ends, *from)
			}
		}
	}
	if len(ends) == 0 {
		return
	}
	alone := map[int]bool{} // tokens that are in a block that only adds, or only removes
	for i := range h.blocks {
		if from, to, pure := side(&h.blocks[i]); pure {
			for at := *from; at < *to; at++ {
				alone[at] = true
			}
		}
	}
	partner := partners(tokens, text)
	var out []block
	for _, b := range h.blocks {
		from, to, _ := side(&b)
		n := *to - *from
		if b.isPure() || n < 2 {
			out = append(out, b)
			continue
		}
		first, last := *from, *to-1
		if p, has := partner[first]; has && p > first && alone[p] {
			c := block{b.a0, b.a0, b.b0, b.b0}
			cf, ct, _ := side(&c)
			*cf, *ct = first, first+1
			*from = first + 1
			out = append(out, c)
			n--
		}
		if p, has := partner[last]; has && p < last && alone[p] && n > 1 {
			c := block{b.a1, b.a1, b.b1, b.b1}
			cf, ct, _ := side(&c)
			*cf, *ct = last, last+1
			*to = last
			out = append(out, b, c)
			continue
		}
		out = append(out, b)
	}
	h.blocks = out
}

// partners tells of brackets which one belongs to which.
func partners(tokens []token, text []byte) map[int]int {
	partner := map[int]int{}
	var open []int
	for at, k := range tokens {
		switch n := bracketOf(k, text); {
		case n > 0:
			open = append(open, at)
		case n < 0 && len(open) > 0:
			o := open[len(open)-1]
			open = open[:len(open)-1]
			partner[o], partner[at] = at, o
		}
	}
	return partner
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
