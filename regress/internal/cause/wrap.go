package cause

import (
	"bytes"
)

// match gives one pattern to edits that belong together: an added bracket and its counterpart, or
// tokens that were moved.
func (h *hunk) match() {
	h.matchMoves()
	h.matchWraps(h.nowSide(), sortWrap)
	h.matchWraps(h.oldSide(), sortUnwrap)
}

func (h *hunk) setMark(i int, m mark) {
	if h.marks == nil {
		h.marks = make([]mark, len(h.blocks))
	}
	h.marks[i] = m
}

// matchMoves finds moves between neighbouring blocks.
func (h *hunk) matchMoves() {
	s := h.scratch
	for i := 1; i < len(h.blocks); i++ {
		x, y := h.blocks[i-1], h.blocks[i]
		if h.mark(i-1).key != nil || !h.isMove(x, y) {
			continue
		}
		if x.a0 == x.a1 {
			x = y
		}
		es := collapse(nil, h.text.old, s.old[x.a0:x.a1])
		key, at := append(append(appendElements([]byte(sortMove.key("")), es), '\t'), appendElements(nil, es)...), spacesOf(h.text.old, es)
		m := mark{key, spaces{at, at}}
		h.setMark(i-1, m)
		h.setMark(i, m)
	}
}

type bracket struct {
	at, block int // the token, and its block; -1 for none
}

// matchWraps finds pure blocks whose brackets close each other.
func (h *hunk) matchWraps(s side, as sort) {
	if len(h.blocks) < 2 {
		return
	}
	partner := make([]int, len(h.blocks)) // index + 1; 0 for none, -1 for several or an unsuitable one
	var open []bracket
	next := 0
	for at, k := range s.tokens {
		for next < len(h.blocks) {
			if _, to, _ := s.in(h.blocks[next]); at < to {
				break
			}
			next++
		}
		b := -1
		if next < len(h.blocks) {
			if from, _, _ := s.in(h.blocks[next]); at >= from {
				b = next
			}
		}
		switch bracketOf(k, s.text) {
		case 1:
			open = append(open, bracket{at, b})
		case -1:
			if len(open) == 0 {
				continue
			}
			o := open[len(open)-1]
			open = open[:len(open)-1]
			if o.block == b {
				continue
			}
			join(partner, o.block, b)
			join(partner, b, o.block)
		}
	}
	h.markPartners(partner, s, as)
}

func join(partner []int, b, with int) {
	switch {
	case b < 0:
	case with < 0 || partner[b] != 0 && partner[b] != with+1:
		partner[b] = -1
	default:
		partner[b] = with + 1
	}
}

func (h *hunk) markPartners(partner []int, s side, as sort) {
	for i, p := range partner {
		j := p - 1
		if p <= 0 || j <= i || partner[j] != i+1 || h.mark(i).key != nil || h.mark(j).key != nil {
			continue
		}
		from, to, pure := s.in(h.blocks[i])
		from2, to2, pure2 := s.in(h.blocks[j])
		if !pure || !pure2 {
			continue
		}
		opening, closing := collapse(nil, s.text, s.tokens[from:to]), collapse(nil, s.text, s.tokens[from2:to2])
		key := appendElements(append(appendElements([]byte(as.key("")), opening), '\t'), closing)
		if to-from == 1 && to2-from2 == 1 {
			key = append(append(key, '\t'), wrapContext(s.text, int(s.tokens[from].from), int(s.tokens[to2-1].to))...)
		}
		m := mark{key, spaces{spacesOf(s.text, opening), spacesOf(s.text, closing)}}
		h.setMark(i, m)
		h.setMark(j, m)
	}
}

// wrapContext returns the context of brackets around something. from is the first bracket, to the
// end of the last.
func wrapContext(text []byte, from, to int) string {
	in := "of " + describeOpener(text, from)
	if bytes.HasPrefix(bytes.TrimLeft(text[to:min(len(text), to+wordMax)], " \t"), []byte("= ")) {
		in += " ="
	}
	return in
}
