package rule

import (
	"cmp"
	"slices"

	"muster/regress/internal/cause"
)

// A Text is a part of a case: both contents, and the edits between them. A text that did not change has no edits.
type Text struct {
	Name     string // of the case
	Part     string // the name of the part
	Old, Now []byte
	Edits    []cause.Attributed
}

// HasEdits reports whether both contents have the places of all edits.
func (t *Text) HasEdits() bool {
	return !slices.ContainsFunc(t.Edits, func(e cause.Attributed) bool { return e.Old.To > len(t.Old) || e.Now.To > len(t.Now) })
}

// A study is a page with the changes of one cause.
type study struct {
	*page
	changes []change
	texts   []string       // the new text of each change
	all     []causedChange // of all causes
	index   int            // the cause
	covered []bool         // changes that a production reproduces
	group   string         // the case
}

// A causedChange is a change with the index of its cause.
type causedChange struct {
	change
	cause int
}

// changesIn returns the changes of a text, in order.
func changesIn(p *page, t Text) (list []causedChange) {
	for _, e := range t.Edits {
		for _, c := range changesOf(p, e.Old.From, e.Old.To, t.Now[e.Now.From:e.Now.To]) {
			list = append(list, causedChange{c, e.Cause})
		}
	}
	for i := 1; i < len(list); i++ {
		list[i-1].takeBreak(p, &list[i].change)
	}
	slices.SortStableFunc(list, func(x, y causedChange) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to))
	})
	return list
}

// newStudy divides the changes of a text into those of a cause and others.
func newStudy(p *page, caseName string, changes []causedChange, index int) *study {
	s := &study{page: p, group: caseName, all: changes, index: index}
	for _, c := range changes {
		if c.cause == index {
			s.changes = append(s.changes, c.change)
			s.texts = append(s.texts, textOf(c.now))
		}
	}
	s.covered = make([]bool, len(s.changes))
	return s
}

// changeAt returns the change that replaces items by a text, or -1.
func (s *study) changeAt(from, to int, text string) int {
	i, known := slices.BinarySearchFunc(s.changes, from, func(c change, from int) int { return cmp.Compare(c.from, from) })
	for ; known && i < len(s.changes) && s.changes[i].from == from; i++ {
		if s.changes[i].to == to && s.texts[i] == text {
			return i
		}
	}
	return -1
}

// changesIn reports whether the cause changes some of these items, or something between them.
func (s *study) changesIn(from, to int) bool {
	i, _ := slices.BinarySearchFunc(s.changes, from, func(c change, from int) int { return cmp.Compare(c.to, from) })
	for ; i < len(s.changes) && s.changes[i].from <= to; i++ {
		if c := s.changes[i]; c.from < to && c.to > from || c.from == c.to || from == to {
			return true
		}
	}
	return false
}

// isTaken reports whether another cause changes something there.
func (s *study) isTaken(from, to int) bool {
	i, _ := slices.BinarySearchFunc(s.all, from, func(c causedChange, from int) int { return cmp.Compare(c.to, from) })
	for ; i < len(s.all) && s.all[i].from <= to; i++ {
		if s.all[i].cause != s.index {
			return true
		}
	}
	return false
}
