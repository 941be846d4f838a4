package rule

import (
	"cmp"
	"slices"
	"strings"
)

// A match is a place where a production of a rule would change a text.
type match struct {
	production int
	from, to   int // items
	text       string
}

// A set finds the matches of several rules in one pass over a page.
type set struct {
	rules   []*Rule
	byKey   map[uint64][]anchor // by the key of a literal item
	generic [2][]anchor         // productions without one, by the parity of their first item
}

// An anchor is a production, and the item of its pattern by which it is found.
type anchor struct{ rule, production, offset int }

// newSet returns the set of rules. A nil rule is left out.
func newSet(rules []*Rule) *set {
	s := &set{rules: rules, byKey: map[uint64][]anchor{}}
	for i, r := range rules {
		if r == nil {
			continue
		}
		for j := range r.productions {
			q := &r.productions[j]
			// A token is rarer than whitespace.
			at := slices.IndexFunc(q.pieces, func(x piece) bool { return x.Hole == 0 })
			for n, x := range q.pieces {
				if x.Hole == 0 && (q.parity+n)&1 == 1 {
					at = n
					break
				}
			}
			if at < 0 {
				s.generic[q.parity] = append(s.generic[q.parity], anchor{i, j, 0})
			} else {
				s.byKey[q.pieces[at].Key] = append(s.byKey[q.pieces[at].Key], anchor{i, j, at})
			}
		}
	}
	return s
}

// find returns the matches of each rule, in order and without overlaps. It calls take for its steps, and returns
// false once that does.
func (s *set) find(p *page, take func(steps int) bool) (found [][]match, ok bool) {
	found = make([][]match, len(s.rules))
	counts := make(map[anchor]int)
	steps := 0
	try := func(i int, a anchor) {
		if steps > caseStepsMax {
			return
		}
		q := &s.rules[a.rule].productions[a.production]
		steps += 1 + len(q.pieces)/8
		if q.until != 0 {
			steps += untilMax / 8
		}
		from, to, ok := q.matches(p, i-a.offset)
		if !ok {
			return
		}
		steps += contextSteps
		at := place{0, from, to, counts[a], -1}
		counts[a]++
		if !q.holdsAt(p, at) {
			return
		}
		if text, ok := render(p, q.outputs, from, to); ok {
			steps += len(text)
			found[a.rule] = append(found[a.rule], match{a.production, from, to, text})
		}
	}
	for i := range p.items() {
		for _, a := range s.byKey[p.key(i)] {
			try(i, a)
		}
		for _, a := range s.generic[i&1] {
			try(i, a)
		}
		if !take(1 + steps) {
			return nil, false
		}
		steps = 0
	}
	for i := range found {
		found[i] = withoutOverlaps(found[i])
	}
	return found, true
}

// withoutOverlaps sorts matches. Of those that overlap it keeps the first.
func withoutOverlaps(list []match) []match {
	slices.SortStableFunc(list, func(x, y match) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.production, y.production))
	})
	last, inserted := 0, -1
	return slices.DeleteFunc(list, func(m match) bool {
		if m.from < last || m.from == m.to && m.from == inserted {
			return true
		}
		last = m.to
		if m.from == m.to {
			inserted = m.from
		}
		return false
	})
}

// A replay is what a rule does to one text, compared with what happened to it.
type replay struct {
	places    int     // changes of the cause
	explained []match // those that the rule reproduces
	left      []match // places that match and did not change
	otherwise []match // places that are changed in another way
	missed    int     // the item of the first change that the rule does not reproduce, or -1
	exact     bool    // the rule makes the changes of the cause, all and no others, byte for byte
}

// compare compares the matches of a rule with the changes of its cause.
func (s *study) compare(found []match) (out replay) {
	out.places, out.missed = len(s.changes), -1
	known := make([]bool, len(s.changes))
	predicted := make([]change, 0, len(found))
	for _, m := range found {
		switch at, is := s.fateOf(m.from, m.to, m.text); is {
		case reproduced:
			known[at] = true
			out.explained = append(out.explained, m)
		case unknown:
			continue
		case otherwise:
			out.otherwise = append(out.otherwise, m)
		case left:
			out.left = append(out.left, m)
		}
		predicted = append(predicted, change{m.from, m.to, []item{{text: m.text}}})
	}
	switch {
	case len(out.explained) == out.places && len(out.left)+len(out.otherwise) == 0:
		out.exact = true
	case len(s.changes) > 0:
		out.exact = applyChanges(s.page, predicted) == applyChanges(s.page, s.changes)
	}
	if out.exact {
		out.left, out.otherwise = nil, nil
	} else if at := slices.Index(known, false); at >= 0 {
		out.missed = s.changes[at].from
	}
	return out
}

// makes reports whether changes make a new text. They do not if two of them are in the same whitespace.
func makes(p *page, changes []causedChange, now []byte) bool {
	all := make([]change, len(changes))
	for i, c := range changes {
		all[i] = c.change
	}
	return applyChanges(p, all) == string(now)
}

// applyChanges returns a text with changes, which are in order.
func applyChanges(p *page, changes []change) string {
	var b strings.Builder
	at := 0
	for _, c := range changes {
		if from := p.start(c.from); from >= at {
			b.Write(p.text[at:from])
			b.WriteString(textOf(c.now))
			at = p.start(c.to)
		}
	}
	b.Write(p.text[at:])
	return b.String()
}
