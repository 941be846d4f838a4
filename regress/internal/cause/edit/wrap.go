package edit

import (
	"bytes"

	"muster/regress/internal/cause/pattern"
)

// match gives one pattern to edits that belong together: an added bracket and its counterpart, or
// tokens that were moved.
func (h *hunk) match() {
	h.matchMoves()
	h.matchWraps(h.nowSide(), pattern.Wrap)
	h.matchWraps(h.oldSide(), pattern.Unwrap)
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
		if x.A0 == x.A1 {
			x = y
		}
		es := collapse(nil, h.text.old, s.old[x.A0:x.A1])
		key, at := append(append(appendElements([]byte(pattern.Move.Key("")), es), '\t'), appendElements(nil, es)...), spacesOf(h.text.old, es)
		m := mark{key, pattern.Spaces{Old: at, Now: at}}
		h.markBoth(i-1, i, m)
	}
}

// matchWraps finds pure blocks whose brackets close each other.
func (h *hunk) matchWraps(s side, as pattern.Sort) {
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
	h.joinTags(partner, s)
	h.markPartners(partner, s, as)
}

// joinTags makes partners of blocks that are an opening tag and its closing tag.
func (h *hunk) joinTags(partner []int, s side) {
	type opened struct {
		block int // or -1
		name  uint64
	}
	var open []opened
	next := 0
	for at := range s.tokens {
		way := tagOf(s.tokens[at:], s.text)
		if way == 0 {
			continue
		}
		in := -1
		for ; next < len(h.blocks); next++ {
			from, to, pure := s.in(h.blocks[next])
			if at < to {
				if pure && at == from && tagEnd(s.tokens[at:to], s.text) == to-from {
					in = next
				}
				break
			}
		}
		name := s.tokens[at+1].Key
		if way > 0 {
			open = append(open, opened{in, name})
			continue
		}
		// Tags such as <br> are never closed.
		for last := len(open) - 1; last >= max(0, len(open)-tagMax); last-- {
			if open[last].name != name {
				continue
			}
			if in >= 0 && open[last].block >= 0 {
				join(partner, open[last].block, in)
				join(partner, in, open[last].block)
			}
			open = open[:last]
			break
		}
	}
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

func (h *hunk) markPartners(partner []int, s side, as pattern.Sort) {
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
		key := appendElements(append(appendElements([]byte(as.Key("")), opening), '\t'), closing)
		if to-from == 1 && to2-from2 == 1 {
			key = append(append(key, '\t'), wrapContext(s.text, int(s.tokens[from].From), int(s.tokens[to2-1].To))...)
		}
		m := mark{key, pattern.Spaces{Old: spacesOf(s.text, opening), Now: spacesOf(s.text, closing)}}
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
