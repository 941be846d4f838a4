package rule

import (
	"bytes"
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
	for _, e := range turned(&t) {
		for _, c := range changesOf(p, e.Old.From, e.Old.To, t.Now[e.Now.From:e.Now.To]) {
			list = append(list, causedChange{c, e.Cause})
		}
	}
	slices.SortStableFunc(list, func(x, y causedChange) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to))
	})
	return list
}

// turned returns edits that do the same, each as it would be alone. Where one edit removes a text up to a line break,
// and the next one removes this break beside what it replaces, an equal break before the text stays. turned makes the
// first edit remove the break before the text, so the next one keeps the break behind. Edits in the former move to
// the latter.
func turned(t *Text) []cause.Attributed {
	list := slices.Clone(t.Edits)
	for i := 1; i < len(list); i++ {
		gone, next := list[i-1], &list[i]
		gap, now := blankOf(t.Old[next.Old.From:next.Old.To]), t.Now[next.Now.From:next.Now.To]
		from := gone.Old.From - len(gap)
		if gone.Now.From < gone.Now.To || gone.Old.To != next.Old.From || bytes.IndexByte(gap, '\n') < 0 || len(now) == 0 || len(blankOf(now)) > 0 ||
			!bytes.HasSuffix(t.Old[:gone.Old.From], gap) {
			continue
		}
		j := i - 1
		for j > 0 && list[j-1].Old.To > from {
			j--
		}
		if list[j].Old.From < from {
			continue
		}
		by := gone.Old.To - from
		for k := i - 1; k > j; k-- {
			list[k] = list[k-1]
			list[k].Old.From, list[k].Old.To = list[k].Old.From+by, list[k].Old.To+by
		}
		gone.Old.From = from
		list[j], next.Old.From = gone, next.Old.From+len(gap)
	}
	return list
}

// blankOf returns the whitespace that a text begins with.
func blankOf(text []byte) []byte { return text[:len(text)-len(bytes.TrimLeft(text, " \t\r\n"))] }

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
