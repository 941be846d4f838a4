package hole

import (
	"slices"

	"muster/regress/internal/diff"
)

// A region is a range of lines of the first text in which some text differs.
type region struct {
	from, to     int
	alternatives [][]string // the lines of each text, the first text's own first
}

// height returns the lines of the region in the text that has most.
func (r *region) height() (most int) {
	for _, lines := range r.alternatives {
		most = max(most, len(lines))
	}
	return most
}

// sameHeight reports whether all texts have as many lines.
func (r *region) sameHeight() bool {
	return !slices.ContainsFunc(r.alternatives, func(lines []string) bool { return len(lines) != len(r.alternatives[0]) })
}

// A builder builds the elements of a pattern.
type builder struct {
	lines    []string // of the first text
	regions  []region
	elements []element
	next     int // the first line without an element
}

func newBuilder(lines []string, texts [][]byte) *builder {
	b := &builder{lines: lines}
	texts = distinct(texts)
	others := make([]other, len(texts)-1)
	for i, text := range texts[1:] {
		others[i] = compareWith(texts[0], text)
	}
	b.regions = regionsOf(lines, others)
	return b
}

// distinct returns each text once, in order.
func distinct(texts [][]byte) (list [][]byte) {
	for _, text := range texts {
		if !slices.ContainsFunc(list, func(known []byte) bool { return string(known) == string(text) }) {
			list = append(list, text)
		}
	}
	return list
}

// An other text, with its changes from the first one as ranges of lines.
type other struct {
	lines   []string
	changes []diff.Change
}

func compareWith(first, text []byte) other {
	a, b := lineStarts(first), lineStarts(text)
	o := other{lines: splitLines(text), changes: diff.Changes(first, text)}
	for i, c := range o.changes {
		o.changes[i] = diff.Change{OldFrom: lineAt(a, c.OldFrom), OldTo: lineAt(a, c.OldTo), NowFrom: lineAt(b, c.NowFrom), NowTo: lineAt(b, c.NowTo)}
	}
	return o
}

// regionsOf joins the changes of all texts that overlap or touch.
func regionsOf(lines []string, others []other) (list []region) {
	var all []diff.Change
	for _, o := range others {
		all = append(all, o.changes...)
	}
	slices.SortFunc(all, func(a, b diff.Change) int { return a.OldFrom - b.OldFrom })
	for _, c := range all {
		if n := len(list); n > 0 && c.OldFrom <= list[n-1].to {
			list[n-1].to = max(list[n-1].to, c.OldTo)
			continue
		}
		list = append(list, region{from: c.OldFrom, to: c.OldTo})
	}
	for i := range list {
		r := &list[i]
		r.alternatives = append(r.alternatives, lines[r.from:r.to])
		for _, o := range others {
			r.alternatives = append(r.alternatives, o.lines[o.startOf(r.from):o.endOf(r.to)])
		}
	}
	return list
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

// build gives each region the narrowest elements.
func (b *builder) build() []element {
	for i := 0; i < len(b.regions); {
		i = b.add(i)
	}
	b.addFixed(len(b.lines))
	return b.elements
}

// add adds elements for a region, and perhaps for some that follow. It returns the next region.
func (b *builder) add(i int) (next int) {
	r := &b.regions[i]
	if b.balanced(i, 1, linesOf) == i+1 {
		return b.addOrder(i, i+1, shuffled)
	}
	var lines []element
	if r.sameHeight() {
		if lines = elementsOf(r); !slices.ContainsFunc(lines, func(e element) bool { return e.hasFreeText() }) {
			return b.addAll(i, lines)
		}
	}
	if end := b.balanced(i, reachMax, linesOf); end > i {
		return b.addOrder(i, end, shuffled)
	}
	if end := b.balanced(i, reachMax, shapesIn); end > i {
		return b.addOrder(i, end, shuffled)
	}
	if end := b.balanced(i, reachMax, wordsIn); end > i {
		return b.addOrder(i, end, mixed)
	}
	if lines != nil {
		return b.addAll(i, lines)
	}
	return b.addAll(i, []element{{kind: anything, from: r.from, lines: b.lines[r.from:r.to], most: r.height()}})
}

func linesOf(lines []string) []string { return lines }

func shapesIn(lines []string) []string {
	shapes := make([]string, len(lines))
	for i, line := range lines {
		shapes[i] = shapeOf(line)
	}
	return shapes
}

// reachMax bounds the regions that lines move between.
const reachMax = 256

// Lines that do not move may lie between those that do. Within an order, a moved line beside them
// would not show. So they must be few: calmFew, or calmShare for each line that moves.
const (
	calmFew   = 100
	calmShare = 10
)

// balanced returns the end of the shortest run of regions from i on, at most reach, that has the
// same items in all texts. It returns 0 if there is none.
func (b *builder) balanced(i, reach int, itemsOf func(lines []string) []string) (end int) {
	sums := make([]balance, len(b.regions[i].alternatives)-1)
	moving := 0
	for j := i; j < min(len(b.regions), i+reach); j++ {
		r := &b.regions[j]
		moving += r.height()
		if calm := r.to - b.regions[i].from - moving; calm > calmFew+calmShare*moving {
			return 0
		}
		off := 0
		first := itemsOf(r.alternatives[0])
		for k := range sums {
			sums[k].add(first, -1)
			sums[k].add(itemsOf(r.alternatives[k+1]), +1)
			off += sums[k].off
		}
		if off == 0 {
			return j + 1
		}
	}
	return 0
}

// addOrder adds an element for the regions [i, end) with all lines between them.
func (b *builder) addOrder(i, end int, kind elementKind) (next int) {
	from, to := b.regions[i].from, b.regions[end-1].to
	e := element{kind: kind, from: from, lines: b.lines[from:to]}
	if kind == shuffled {
		e.all = newLineBag(b.window(i, end))
	} else {
		e.words = newBag(wordsIn(e.lines))
	}
	b.addFixed(from)
	b.elements, b.next = append(b.elements, e), to
	return end
}

// window returns the lines of the regions [i, end) with all lines between them, in each text.
func (b *builder) window(i, end int) [][]string {
	texts := make([][]string, len(b.regions[i].alternatives))
	next := b.regions[i].from
	for _, r := range b.regions[i:end] {
		for k, lines := range r.alternatives {
			texts[k] = append(append(texts[k], b.lines[next:r.from]...), lines...)
		}
		next = r.to
	}
	return texts
}

// addAll adds elements for one region.
func (b *builder) addAll(i int, list []element) (next int) {
	b.addFixed(b.regions[i].from)
	b.elements, b.next = append(b.elements, list...), b.regions[i].to
	return i + 1
}

// addFixed adds the lines up to a region, which are equal in all texts.
func (b *builder) addFixed(to int) {
	if b.next < to {
		b.elements = append(b.elements, element{kind: fixed, from: b.next, lines: b.lines[b.next:to]})
		b.next = to
	}
}

// elementsOf returns an element for each line of a region that has as many lines in all texts.
func elementsOf(r *region) (list []element) {
	for at, line := range r.alternatives[0] {
		lines := make([]string, len(r.alternatives))
		for k := range lines {
			lines[k] = r.alternatives[k][at]
		}
		e := element{kind: varied, from: r.from + at, lines: r.alternatives[0][at : at+1]}
		if !slices.ContainsFunc(lines, func(other string) bool { return other != line }) {
			e.kind = fixed
		} else {
			e.pieces = piecesOf(lines)
		}
		list = append(list, e)
	}
	return list
}
