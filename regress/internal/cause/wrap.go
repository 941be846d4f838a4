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

func (h *hunk) markBoth(i, j int, m mark) {
	if h.marks == nil {
		h.marks = map[int]mark{}
	}
	h.marks[i], h.marks[j] = m, m
}

// matchMoves finds moves between neighbouring blocks.
func (h *hunk) matchMoves() {
	s := h.scratch
	for i := 1; i < len(h.blocks); i++ {
		x, y := h.blocks[i-1], h.blocks[i]
		if h.marks[i-1].key != nil || !h.isMove(x, y) {
			continue
		}
		if x.a0 == x.a1 {
			x = y
		}
		es := collapse(nil, h.text.old, s.old[x.a0:x.a1])
		key, at := append(append(appendElements([]byte(sortMove.key("")), es), '\t'), appendElements(nil, es)...), spacesOf(h.text.old, es)
		m := mark{key, spaces{at, at}}
		h.markBoth(i-1, i, m)
	}
}

// matchWraps finds pure blocks whose brackets close each other.
func (h *hunk) matchWraps(s side, as sort) {
	if len(h.blocks) < 2 {
		return
	}
	partner := make([]int, len(h.blocks)) // index + 1; 0 for none, -1 for several or an unsuitable one
	h.pairBrackets(s, func(opened, closed, _ int) {
		if opened != closed {
			join(partner, opened, closed)
			join(partner, closed, opened)
		}
	})
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
		if p <= 0 || j <= i || partner[j] != i+1 || h.marks[i].key != nil || h.marks[j].key != nil {
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
		h.markBoth(i, j, m)
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
