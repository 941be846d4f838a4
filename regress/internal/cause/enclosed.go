package cause

import (
	"slices"
	"strings"
)

// matchBrackets gives one pattern to an opening and a closing bracket that were added or removed
// together around unchanged lines. Such brackets are in different hunks.
func (t *text) matchBrackets() {
	if t.extents != nil {
		return
	}
	t.matchBracketsOn(&t.around[0], sortEdit.key(string(sign)), sortUnwrap, func(p *place) Span { return p.Old })
	t.matchBracketsOn(&t.around[1], sortEdit.key("\t"+string(sign)), sortWrap, func(p *place) Span { return p.Now })
}

// A loneBracket is the offset of a lone bracket and the index of its place.
type loneBracket struct{ at, place int }

func (t *text) matchBracketsOn(s *surroundings, prefix string, as sort, of func(*place) Span) {
	var list []loneBracket
	opened, closed := false, false
	for i := range t.places {
		key := t.words.list[t.places[i].pattern]
		if !strings.HasPrefix(key, prefix) || !isLoneBracket(key) {
			continue
		}
		at := skip(s.text, of(&t.places[i]).From)
		list = append(list, loneBracket{at, i})
		isOpening := bracketAt(s.text, at) > 0
		opened, closed = opened || isOpening, closed || !isOpening
	}
	if opened && closed {
		pairUp(s.text, list, func(x, y loneBracket) {
			m := t.words.add(as.key(string(sign) + string(s.text[x.at]) + "\t" + string(sign) + string(s.text[y.at]) + "\t" + wrapContext(s.text, x.at, y.at+1)))
			t.places[x.place].pattern, t.places[y.place].pattern = m, m
		})
	}
}

func isLoneBracket(key string) bool {
	p := parse(key)
	return isBracket(&p)
}

// isBracket reports whether an edit adds or removes one bracket and nothing else.
func isBracket(p *pattern) bool {
	if !p.isEdit() {
		return false
	}
	side := slices.Concat(p.old, p.now)
	return len(side) == 1 && side[0].kind == sign && len(side[0].text) == 1 && bracketAt([]byte(side[0].text), 0) != 0
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
		switch bracketAt(text, at) {
		case 1:
			open = append(open, bracket{at, which})
		case -1:
			if last := len(open) - 1; last >= 0 && closes(text[open[last].at], text[at]) {
				if open[last].lone >= 0 && which >= 0 {
					pair(list[open[last].lone], list[which])
				}
				open = open[:last]
			}
		}
	}
}

func closes(opening, closing byte) bool {
	switch opening {
	case '(':
		return closing == ')'
	case '[':
		return closing == ']'
	}
	return closing == '}'
}
