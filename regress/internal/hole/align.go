package hole

import (
	"sort"
	"strings"

	"muster/regress/internal/diff"
	"muster/regress/internal/plaintext"
)

// An other text, with its changes from the first one as ranges of lines.
type other struct {
	lines   []string
	changes []diff.Change
	missed  int // bytes that were compared with elements that they do not fit
}

// compareWith aligns a text with the first one.
func compareWith(first, text []byte) other {
	o := other{lines: plaintext.SplitLines(text), changes: diff.ChangedLines(first, text)}
	if unequal(o.changes) > 0 {
		o.alignByShape(plaintext.SplitLines(first))
	}
	return o
}

// unequal sums up how many lines the changes put in or take out.
func unequal(changes []diff.Change) (sum int) {
	for _, c := range changes {
		put := (c.NowTo - c.NowFrom) - (c.OldTo - c.OldFrom)
		sum += max(put, -put)
	}
	return sum
}

// shapedMax bounds the lines that are aligned by their shapes.
const shapedMax = 20000

// alignByShape aligns the lines between the first and the last change by their shapes, if fewer
// lines come and go then. Numbers that vary may happen to be those of another line.
func (o *other) alignByShape(first []string) {
	from, to := o.changes[0], o.changes[len(o.changes)-1]
	old, now := first[from.OldFrom:to.OldTo], o.lines[from.NowFrom:to.NowTo]
	if len(old)+len(now) > shapedMax {
		return
	}
	var aligned []diff.Change
	next, shift := 0, 0
	same := func(until int) { // lines of the same shapes
		for ; next < until; next++ {
			if old[next] != now[next+shift] {
				aligned = diff.Append(aligned, diff.Change{OldFrom: next, OldTo: next + 1, NowFrom: next + shift, NowTo: next + shift + 1})
			}
		}
	}
	for _, c := range diff.ChangedLines([]byte(text(shapesIn(old))), []byte(text(shapesIn(now)))) {
		same(c.OldFrom)
		aligned = diff.Append(aligned, c)
		next, shift = c.OldTo, c.NowTo-c.OldTo
	}
	same(len(old))
	if unequal(aligned) >= unequal(o.changes) {
		return
	}
	o.changes = aligned
	for i := range o.changes {
		c := &o.changes[i]
		c.OldFrom, c.OldTo, c.NowFrom, c.NowTo = c.OldFrom+from.OldFrom, c.OldTo+from.OldFrom, c.NowFrom+from.NowFrom, c.NowTo+from.NowFrom
	}
}

// startOf returns where a region that starts at a line of the first text starts in the other one.
// Lines that are put in there belong to the region.
func (o *other) startOf(line int) int {
	return o.place(line, func(c diff.Change) bool { return c.OldTo > line || c.OldFrom == line })
}

// endOf returns where a region that ends at a line of the first text ends in the other one.
func (o *other) endOf(line int) int {
	return o.place(line, func(c diff.Change) bool { return c.OldTo > line })
}

// place returns where a line of the first text is in the other one, before the first change that is
// behind it.
func (o *other) place(line int, isBehind func(diff.Change) bool) int {
	i := o.search(isBehind)
	if i == 0 {
		return line
	}
	c := o.changes[i-1]
	return line + c.NowTo - c.OldTo
}

// search returns the index of the first change for which is holds. It holds for all that follow, too.
// A text may have a change in every other line, and each region is searched for.
func (o *other) search(is func(diff.Change) bool) int {
	return sort.Search(len(o.changes), func(i int) bool { return is(o.changes[i]) })
}

// reaching returns the first change that ends at a line of the first text or behind it.
func (o *other) reaching(line int) (c diff.Change, found bool) {
	i := o.search(func(c diff.Change) bool { return c.OldTo >= line })
	if i == len(o.changes) {
		return c, false
	}
	return o.changes[i], true
}

// A bag counts texts without their order.
type bag struct {
	counts map[string]int
	size   int
}

func newBag(texts []string) bag {
	b := bag{map[string]int{}, len(texts)}
	for _, text := range texts {
		b.counts[text]++
	}
	return b
}

// equals reports whether texts are those of the bag, in any order.
func (b bag) equals(texts []string) bool {
	if len(texts) != b.size {
		return false
	}
	found := make(map[string]int, len(b.counts))
	for _, text := range texts {
		found[text]++
		if found[text] > b.counts[text] {
			return false
		}
	}
	return true
}

// A balance finds out whether two texts have the same items, as both grow.
type balance struct {
	counts map[string]int // of the second text, less those of the first
	off    int            // items with a count other than 0
}

func (b *balance) add(items []string, by int) {
	if b.counts == nil {
		b.counts = map[string]int{}
	}
	for _, item := range items {
		was := b.counts[item]
		b.counts[item] = was + by
		switch {
		case was == 0:
			b.off++
		case was+by == 0:
			b.off--
		}
	}
}

// text joins lines.
func text(lines []string) string { return strings.Join(lines, "") }
