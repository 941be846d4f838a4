package cause

import (
	"bytes"
	"slices"
	"strings"
)

// match gives one pattern to edits that belong together: an added bracket and its counterpart, or
// tokens that were moved.
func (h *hunk) match() {
	h.matchMoves()
	h.matchWraps(h.nowSide(), sortWrap)
	h.matchWraps(h.oldSide(), sortUnwrap)
}

func (h *hunk) setMark(i int, m []byte) {
	if h.marks == nil {
		h.marks = make([][]byte, len(h.blocks))
	}
	h.marks[i] = m
}

// matchMoves finds moves between neighbouring blocks.
func (h *hunk) matchMoves() {
	s := h.scratch
	for i := 1; i < len(h.blocks); i++ {
		x, y := h.blocks[i-1], h.blocks[i]
		if h.mark(i-1) != nil || !h.isMove(x, y) {
			continue
		}
		if x.a0 == x.a1 {
			x = y
		}
		es := collapse(nil, h.text.old, s.old[x.a0:x.a1])
		m := append(append(appendElements([]byte(sortMove.key("")), es), '\t'), appendElements(nil, es)...)
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
		if p <= 0 || j <= i || partner[j] != i+1 || h.mark(i) != nil || h.mark(j) != nil {
			continue
		}
		from, to, pure := s.in(h.blocks[i])
		from2, to2, pure2 := s.in(h.blocks[j])
		if !pure || !pure2 {
			continue
		}
		m := appendElements([]byte(as.key("")), collapse(nil, s.text, s.tokens[from:to]))
		m = appendElements(append(m, '\t'), collapse(nil, s.text, s.tokens[from2:to2]))
		if to-from == 1 && to2-from2 == 1 {
			m = append(append(m, '\t'), wrapContext(s.text, int(s.tokens[from].from), int(s.tokens[to2-1].to))...)
		}
		h.setMark(i, m)
		h.setMark(j, slices.Clone(m))
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

// movedMin is the number of elements of a move. Fewer elements may vanish here and appear there by
// chance.
const movedMin = 3

// matchMoves gives one pattern to tokens that vanished from some places of a text and appear at as
// many others. The neighbours of those places do not matter.
func (t *text) matchMoves() {
	at := map[int32][]int{}
	for i := range t.places {
		at[t.places[i].pattern] = append(at[t.places[i].pattern], i)
	}
	for _, o := range t.opposites(at) {
		gone, come := at[o.gone], at[o.come]
		if len(gone) != len(come) || !t.areAll(o.gone, gone) || !t.areAll(o.come, come) || !t.sameTexts(gone, come) {
			continue
		}
		m := t.words.add(sortMove.key(o.side + "\t" + o.side))
		both := slices.Concat(gone, come)
		slices.Sort(both)
		for _, i := range both {
			t.places[i].pattern, t.places[i].cut = m, -1
			if t.extents != nil {
				t.countEdit(t.places[i])
			}
		}
	}
}

// areAll reports whether these are all edits of a pattern. Beyond editsMax, edits are not kept.
func (t *text) areAll(pattern int32, edits []int) bool {
	return t.extents == nil || int(t.extents[pattern].edits) == len(edits)
}

// An opposite is a pair of patterns: one removes what the other adds.
type opposite struct {
	side       string
	gone, come int32
}

// opposites returns the opposites among the patterns of a text, in order.
func (t *text) opposites(at map[int32][]int) (found []opposite) {
	for gone := range at {
		side, isEdit := strings.CutPrefix(t.words.list[gone], sortEdit.key(""))
		side, isGone := strings.CutSuffix(side, "\t")
		if !isEdit || !isGone || strings.Count(side, " ") < movedMin-1 || !strings.Contains(" "+side, " w") {
			continue
		}
		if come, known := t.words.numbers[sortEdit.key("\t"+side)]; known && len(at[come]) > 0 {
			found = append(found, opposite{side, gone, come})
		}
	}
	slices.SortFunc(found, func(x, y opposite) int { return int(x.gone) - int(y.gone) })
	return found
}

// sameTexts reports whether the removed texts equal the added ones, pair by pair.
func (t *text) sameTexts(gone, come []int) bool {
	for i := range gone {
		x, y := t.places[gone[i]].Old, t.places[come[i]].Now
		if !bytes.Equal(bytes.TrimSpace(t.old[x.From:x.To]), bytes.TrimSpace(t.now[y.From:y.To])) {
			return false
		}
	}
	return true
}
