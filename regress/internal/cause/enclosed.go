package cause

import (
	"slices"
	"strings"
)

// enclosed gives one pattern to a bracket that was added alone, or removed, and the one that
// closes it, where what they are around has lines that are as they were: then they are in
// different hunks.
func (t *text) enclosed() {
	if t.seen != nil {
		return
	}
	t.enclosedOn(&t.around[0], sortEdit.key(string(sign)), sortUnwrap, func(p *place) Span { return p.Old })
	t.enclosedOn(&t.around[1], sortEdit.key("\t"+string(sign)), sortWrap, func(p *place) Span { return p.Now })
}

// A lone bracket is where it is, of a place by its index.
type lone struct{ at, place int }

func (t *text) enclosedOn(s *surroundings, prefix string, as sort, of func(*place) Span) {
	var list []lone
	opened, closed := false, false
	for i := range t.places {
		key := t.words.list[t.places[i].pattern]
		if !strings.HasPrefix(key, prefix) || !isLoneBracket(key) {
			continue
		}
		at := skip(s.text, of(&t.places[i]).From)
		list = append(list, lone{at, i})
		isOpening := bracketAt(s.text, at) > 0
		opened, closed = opened || isOpening, closed || !isOpening
	}
	if opened && closed {
		pairUp(s.text, list, func(x, y lone) {
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

// pairUp calls pair for those of the brackets that close each other.
func pairUp(text []byte, list []lone, pair func(x, y lone)) {
	type bracket struct {
		at, lone int // lone: -1 for one that is no edit
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
