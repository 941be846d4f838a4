package edit

import (
	"strings"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// match gives one pattern to an added or removed bracket and its counterpart.
func (h *hunk) match() {
	h.matchWraps(h.nowSide(), pattern.Wrap)
	h.matchWraps(h.oldSide(), pattern.Unwrap)
}

func (h *hunk) markBoth(i, j int, m mark) {
	if h.marks == nil {
		h.marks = map[int]mark{}
	}
	h.marks[i], h.marks[j] = m, m
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
			key = append(append(key, "\tof "...), describeOpener(s.text, int(s.tokens[from].From))...)
		}
		m := mark{key, pattern.Spaces{Old: spacesOf(s.text, opening), Now: spacesOf(s.text, closing)}}
		h.markBoth(i, j, m)
	}
}

// matchBrackets gives one pattern to an opening and a closing bracket that were added or removed
// together around unchanged lines. Such brackets are in different hunks.
func (t *text) matchBrackets() {
	if t.extents != nil {
		return
	}
	t.matchBracketsOn(&t.around[0], pattern.Edit.Key(string(token.Sign)), pattern.Unwrap, func(p *Place) Span { return p.Old })
	t.matchBracketsOn(&t.around[1], pattern.Edit.Key("\t"+string(token.Sign)), pattern.Wrap, func(p *Place) Span { return p.Now })
}

// A loneBracket is the offset of a lone bracket and the index of its place.
type loneBracket struct{ at, place int }

func (t *text) matchBracketsOn(s *surroundings, prefix string, as pattern.Sort, of func(*Place) Span) {
	var list []loneBracket
	opened, closed := false, false
	for i := range t.places {
		key := t.words.List[t.places[i].Pattern]
		if !strings.HasPrefix(key, prefix) || !pattern.IsBracket(pattern.Parse(key)) {
			continue
		}
		at := token.SkipSpace(s.text, of(&t.places[i]).From, len(s.text))
		list = append(list, loneBracket{at, i})
		isOpening := bracketSign(s.text[at]) > 0
		opened, closed = opened || isOpening, closed || !isOpening
	}
	if opened && closed {
		pairUp(s.text, list, func(x, y loneBracket) {
			m := t.words.Add(as.Key(string(token.Sign) + string(s.text[x.at]) + "\t" + string(token.Sign) + string(s.text[y.at]) + "\tof " + describeOpener(s.text, x.at)))
			t.places[x.place].Pattern, t.places[y.place].Pattern = m, m
		})
	}
}

// pairUp calls pair for brackets of the list that match.
func pairUp(text []byte, list []loneBracket, pair func(x, y loneBracket)) {
	type bracket struct {
		at, lone int // lone: -1 for a bracket that is not an edit
	}
	var open []bracket
	next := 0
	for at := list[0].at; next < len(list); at++ {
		which := -1
		if at == list[next].at {
			which, next = next, next+1
		}
		switch bracketSign(text[at]) {
		case 1:
			open = append(open, bracket{at, which})
		case -1:
			if last := len(open) - 1; last >= 0 && bracketKind(text[open[last].at]) == bracketKind(text[at]) {
				if open[last].lone >= 0 && which >= 0 {
					pair(list[open[last].lone], list[which])
				}
				open = open[:last]
			}
		}
	}
}
