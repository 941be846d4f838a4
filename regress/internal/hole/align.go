package hole

import (
	"slices"
	"strings"

	"muster/regress/internal/diff"
)

// An other text, with its changes from the first one as ranges of lines.
type other struct {
	lines   []string
	changes []diff.Change
}

// compareWith aligns a text with the first one.
func compareWith(first, text []byte) other {
	a, b := lineStarts(first), lineStarts(text)
	o := other{lines: splitLines(text), changes: diff.Changes(first, text)}
	for i, c := range o.changes {
		o.changes[i] = diff.Change{OldFrom: lineAt(a, c.OldFrom), OldTo: lineAt(a, c.OldTo), NowFrom: lineAt(b, c.NowFrom), NowTo: lineAt(b, c.NowTo)}
	}
	if unequal(o.changes) > 0 {
		o.alignByShape(splitLines(first))
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
	a, b := text(shapesIn(old)), text(shapesIn(now))
	aligned := other{lines: now}
	starts, ends := lineStarts([]byte(a)), lineStarts([]byte(b))
	next, shift := 0, 0
	same := func(until int) { // lines of the same shapes
		for ; next < until; next++ {
			if old[next] != now[next+shift] {
				aligned.add(diff.Change{OldFrom: next, OldTo: next + 1, NowFrom: next + shift, NowTo: next + shift + 1})
			}
		}
	}
	for _, c := range diff.Changes([]byte(a), []byte(b)) {
		c = diff.Change{OldFrom: lineAt(starts, c.OldFrom), OldTo: lineAt(starts, c.OldTo), NowFrom: lineAt(ends, c.NowFrom), NowTo: lineAt(ends, c.NowTo)}
		same(c.OldFrom)
		aligned.add(c)
		next, shift = c.OldTo, c.NowTo-c.OldTo
	}
	same(len(old))
	if unequal(aligned.changes) >= unequal(o.changes) {
		return
	}
	o.changes = aligned.changes
	for i := range o.changes {
		c := &o.changes[i]
		c.OldFrom, c.OldTo, c.NowFrom, c.NowTo = c.OldFrom+from.OldFrom, c.OldTo+from.OldFrom, c.NowFrom+from.NowFrom, c.NowTo+from.NowFrom
	}
}

// add adds a change, or extends the last one that it touches.
func (o *other) add(c diff.Change) {
	if n := len(o.changes); n > 0 && o.changes[n-1].OldTo == c.OldFrom && o.changes[n-1].NowTo == c.NowFrom {
		o.changes[n-1].OldTo, o.changes[n-1].NowTo = c.OldTo, c.NowTo
		return
	}
	o.changes = append(o.changes, c)
}

// startOf returns where a region that starts at a line of the first text starts in the other one.
// Lines that are put in there belong to the region.
func (o *other) startOf(line int) int {
	shift := 0
	for _, c := range o.changes {
		if c.OldTo > line || c.OldFrom == line {
			break
		}
		shift = c.NowTo - c.OldTo
	}
	return line + shift
}

// endOf returns where a region that ends at a line of the first text ends in the other one.
func (o *other) endOf(line int) int {
	shift := 0
	for _, c := range o.changes {
		if c.OldTo > line {
			break
		}
		shift = c.NowTo - c.OldTo
	}
	return line + shift
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

// splitLines cuts text after each newline.
func splitLines(text []byte) []string {
	lines := make([]string, 0, diff.CountLines(text))
	for line := range strings.Lines(string(text)) {
		lines = append(lines, line)
	}
	return lines
}

// lineStarts returns where each line starts, and the end of the text.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for at := 0; at < len(text); {
		at = diff.LineEnd(text, at)
		starts = append(starts, at)
	}
	return starts
}

func lineAt(starts []int, at int) int {
	i, _ := slices.BinarySearch(starts, at)
	return i
}

// text joins lines.
func text(lines []string) string { return strings.Join(lines, "") }
