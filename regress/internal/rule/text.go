package rule

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

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
	for _, e := range separateEdits(&t) {
		for _, c := range changesOf(p, e.Old.From, e.Old.To, t.Now[e.Now.From:e.Now.To]) {
			list = append(list, causedChange{c, e.Cause})
		}
	}
	slices.SortStableFunc(list, func(x, y causedChange) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to))
	})
	return list
}

// separateEdits returns edits that do the same, each as it would be alone. Where one edit removes a line, and the next
// one makes text in its place, both may share the line break before it.
func separateEdits(t *Text) []cause.Attributed {
	list := slices.Clone(t.Edits)
	for i := 1; i < len(list); i++ {
		gone, next := list[i-1], list[i]
		switch now := t.Now[next.Now.From:next.Now.To]; {
		case gone.Now.From < gone.Now.To || gone.Old.To != next.Old.From || len(now) == 0 || len(blankOf(now)) > 0:
		case next.Old.From == next.Old.To:
			separateInsertion(t, list[:i+1])
		default:
			separateReplacement(t, list[:i+1])
		}
	}
	return list
}

// separateInsertion handles a new line that replaces removed ones. It makes two changes of the replacement: a removal
// with the line break before the old lines, and an insertion with an equal break.
func separateInsertion(t *Text, list []cause.Attributed) {
	i := len(list) - 1
	first := i - 1
	for first > 0 && list[first-1].Now.From == list[first-1].Now.To && list[first-1].Old.To == list[first].Old.From {
		first--
	}
	gone, added := &list[first], &list[i]
	before := t.Old[:gone.Old.From]
	gap := before[max(0, bytes.LastIndexByte(before, '\n')):]
	if bytes.IndexByte(gap, '\n') == 0 && len(blankOf(gap)) == len(gap) && bytes.HasSuffix(t.Now[:added.Now.From], gap) &&
		(first == 0 || list[first-1].Old.To <= gone.Old.From-len(gap)) {
		gone.Old.From, added.Now.From = gone.Old.From-len(gap), added.Now.From-len(gap)
	}
}

// separateReplacement separates the removal of a text up to a line break from a replacement that takes this break
// beside its text. If an equal break is before the text, it is removed instead, and the replacement keeps the break
// behind. Edits in the former break move to the latter.
func separateReplacement(t *Text, list []cause.Attributed) {
	i := len(list) - 1
	gone, next := list[i-1], &list[i]
	gap := blankOf(t.Old[next.Old.From:next.Old.To])
	from := gone.Old.From - len(gap)
	if bytes.IndexByte(gap, '\n') < 0 || !bytes.HasSuffix(t.Old[:gone.Old.From], gap) {
		return
	}
	j := i - 1
	for j > 0 && list[j-1].Old.To > from {
		j--
	}
	if list[j].Old.From < from {
		return
	}
	by := gone.Old.To - from
	for k := i - 1; k > j; k-- {
		list[k] = list[k-1]
		list[k].Old.From, list[k].Old.To = list[k].Old.From+by, list[k].Old.To+by
	}
	gone.Old.From = from
	list[j], next.Old.From = gone, next.Old.From+len(gap)
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

// A fate is what happened at a match of a rule.
type fate int

const (
	reproduced fate = iota
	left            // nothing changed
	otherwise       // something else changed there, or beside it
	unknown         // another cause changed it together with more, or makes the same text and more
)

// fateOf compares a match, which would replace items by a text, with the changes. It returns the change that it reproduces.
func (s *study) fateOf(from, to int, text string) (at int, is fate) {
	is = left
	i, _ := slices.BinarySearchFunc(s.all, from, func(c causedChange, from int) int { return cmp.Compare(c.to, from) })
	for ; i < len(s.all) && s.all[i].from <= to; i++ {
		c := s.all[i]
		overlaps := c.from < to && c.to > from || from == to
		switch {
		case c.cause != s.index && overlaps && (c.from < from || c.to > to || text != "" && strings.Contains(textOf(c.now), text)):
			is = unknown
		case c.cause != s.index || overlaps || c.from == c.to:
			is = max(is, otherwise)
		}
	}
	if at = s.changeAt(from, to, text); at >= 0 {
		is = reproduced
	}
	return at, is
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
