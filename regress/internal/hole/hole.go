// Package hole compares texts around the places in which they vary from run to run. Its input is
// the texts of several runs of one tool on one source. Its output is a Pattern: the lines and words
// that all runs share, and holes between them. A hole has a class, which says what its texts have
// in common. Another text fits if it equals the pattern outside the holes, and if the text in each
// hole is of its class.
//
// It knows no parts, files or rules, and keeps nothing.
package hole

import (
	"slices"

	"muster/regress/internal/diff"
	"muster/regress/internal/plaintext"
)

// A Pattern is what the texts of several runs share. It never changes after Find, so any number of
// goroutines may use it.
type Pattern struct {
	first    []byte    // the first text
	elements []element // cover all lines, in order
	whole    bool
	count    Count
	classes  [classes]bool
}

// Find returns the pattern of at least one text. Nothing is compared if a text is binary, or if
// more than half of the lines vary: the pattern is whole, see Count. Lines in another order do not count for that.
// Several equal texts are compared even if they are binary: nothing varied.
func Find(texts ...[]byte) *Pattern {
	p := &Pattern{first: texts[0]}
	for _, text := range texts {
		if !plaintext.Is(text) && (len(texts) == 1 || len(distinct(texts)) > 1) {
			p.whole, p.count.IsWhole = true, true
			return p
		}
	}
	p.elements = newBuilder(plaintext.SplitLines(texts[0]), texts).build()
	longest := 0
	for _, text := range texts {
		longest = max(longest, plaintext.CountLines(text))
	}
	varying := 0
	for i := range p.elements {
		e := &p.elements[i]
		e.addTo(&p.count)
		varying += e.varying()
		for _, c := range e.classes() {
			p.classes[c] = true
		}
	}
	if 2*varying > longest {
		p.whole, p.count = true, Count{All: p.count.All, IsWhole: true}
	}
	return p
}

// Count returns the numbers of lines. Of a whole pattern it returns only All, which is 0 for binary
// texts.
func (p *Pattern) Count() Count { return p.count }

// Classes returns the classes of the holes, in ascending order, or none of a whole pattern.
func (p *Pattern) Classes() (list []Class) {
	if p.whole {
		return nil
	}
	for c, some := range p.classes {
		if some {
			list = append(list, Class(c))
		}
	}
	return list
}

// Fits reports whether a text equals the pattern outside the holes, and whether the text in each
// hole is of its class. Everything fits a whole pattern. A text that takes too long to compare does
// not fit: it is compared line by line elsewhere, and a person decides.
func (p *Pattern) Fits(text []byte) bool {
	if p.whole {
		return true
	}
	return fitLines(p.elements, plaintext.SplitLines(text))
}

// A region is a range of lines of the first text in which some text differs.
type region struct {
	from, to     int
	alternatives [][]string // the lines of each text, the first text's own first
	found        [itemKinds][][]string
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
	r, reach := &b.regions[i], effortMax/len(b.regions)
	// Before numbers: an order is stricter, even if its lines differ in numbers alone.
	if end := b.balanced(i, reach, wholeLines); end > i {
		return b.addOrder(i, end, shuffled)
	}
	var lines []element
	if r.sameHeight() {
		if lines = elementsOf(r); !slices.ContainsFunc(lines, func(e element) bool { return e.hasFreeText() }) {
			return b.addAll(i, lines)
		}
	}
	if end := b.balanced(i, reach, shapes); end > i {
		return b.addOrder(i, end, shuffled)
	}
	if end := b.balanced(i, reach, words); end > i {
		return b.addOrder(i, end, mixed)
	}
	if lines != nil {
		return b.addAll(i, lines)
	}
	return b.addAll(i, r.split())
}

// split returns elements for a region whose texts have different numbers of lines. A line is aligned if its shape is there
// exactly once in each text. If the texts have different numbers of lines between two aligned ones, those lines are
// free text.
func (r *region) split() (list []element) {
	from := make([]int, len(r.alternatives)) // the lines before these have elements
	add := func(to []int) {
		part := region{from: r.from + from[0], to: r.from + to[0]}
		for k, lines := range r.alternatives {
			part.alternatives = append(part.alternatives, lines[from[k]:to[k]])
		}
		switch {
		case part.height() == 0:
		case part.sameHeight():
			list = append(list, elementsOf(&part)...)
		default:
			list = append(list, element{kind: anything, from: part.from, lines: part.alternatives[0], most: part.height()})
		}
		from = to
	}
	for _, shape := range r.items(shapes)[0] {
		var at, behind []int
		for k, all := range r.items(shapes) {
			i := slices.Index(all, shape)
			if i < from[k] || slices.Contains(all[i+1:], shape) {
				break
			}
			at, behind = append(at, i), append(behind, i+1)
		}
		if len(at) == len(from) {
			add(at)
			add(behind)
		}
	}
	var ends []int
	for _, lines := range r.alternatives {
		ends = append(ends, len(lines))
	}
	add(ends)
	return list
}

// items is what a balance counts.
type items uint8

const (
	wholeLines items = iota
	shapes
	words
	itemKinds
)

// items returns the items of each alternative. It finds them once.
func (r *region) items(kind items) [][]string {
	if r.found[kind] == nil {
		for _, lines := range r.alternatives {
			switch kind {
			case shapes:
				lines = shapesIn(lines)
			case words:
				lines = wordsIn(lines)
			}
			r.found[kind] = append(r.found[kind], lines)
		}
	}
	return r.found[kind]
}

// effortMax bounds the items that are counted to find lines that move, over all regions.
const effortMax = 1 << 22

// balanced returns the end of the shortest run of regions from i on that has the same items in all
// texts. It returns 0 if there is none, or if a run of several regions has more than reach items. Lines
// that all texts share lie between the regions. They must not be more than those that move: within an
// order, a change of their own order does not show.
func (b *builder) balanced(i, reach int, kind items) (end int) {
	sums := make([]balance, len(b.regions[i].alternatives)-1)
	moving := 0
	for j := i; j < len(b.regions); j++ {
		r := &b.regions[j]
		moving += r.height()
		if calm := r.to - b.regions[i].from - moving; calm > moving {
			return 0
		}
		off := 0
		items := r.items(kind)
		for _, list := range items {
			reach -= len(list)
		}
		if j > i && reach < 0 {
			return 0
		}
		for k := range sums {
			sums[k].add(items[0], -1)
			sums[k].add(items[k+1], +1)
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

// elementsOf returns elements for a region that has as many lines in all texts: one for each line, or an
// order of lines of one shape if that has fewer holes.
func elementsOf(r *region) (list []element) {
	for from, to := 0, 0; from < len(r.alternatives[0]); from = to {
		to = r.endOfShape(from)
		tokens, lines := make([][][]token, len(r.alternatives)), make([][]string, len(r.alternatives))
		for k, all := range r.alternatives {
			lines[k] = all[from:to]
			for _, line := range lines[k] {
				tokens[k] = append(tokens[k], tokensOf(line))
			}
		}
		singles, holes := []element{}, 0
		for i := range lines[0] {
			e := element{kind: fixed, from: r.from + from + i, lines: lines[0][i : i+1]}
			if at := column(lines, i); !allEqual(at) {
				e.kind, e.pieces = varied, piecesOf(column(tokens, i))
			}
			singles, holes = append(singles, e), holes+len(e.classes())
		}
		if to-from > 1 && holesIn(varyingTokens(tokens))*(to-from) < holes {
			singles = []element{{kind: shuffled, from: r.from + from, lines: lines[0], all: newLineBag(lines)}}
		}
		list = append(list, singles...)
	}
	return list
}

// endOfShape returns the end of a run of lines, from a line of the region on, that have one shape in all
// texts.
func (r *region) endOfShape(from int) (to int) {
	for to = from + 1; to < len(r.alternatives[0]); to++ {
		shape := r.items(shapes)[0][from]
		if slices.ContainsFunc(r.items(shapes), func(list []string) bool { return list[from] != shape || list[to] != shape }) {
			return to
		}
	}
	return to
}

// rules are rules of --normalize that rewrite most texts of a class. A class without any is not a
// matter of its texts alone.
var rules = [classes][]string{
	Time: {
		`s/\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?)?/TIME/`,
		`s/[A-Z][a-z]{2} {1,2}\d{1,2},?( \d{4})?( \d\d:\d\d:\d\d)?( [A-Z]{3})?( \d{4})?/TIME/`,
		`s/\d\d?:\d\d(:\d\d([.,]\d+)?| ?[AaPp][Mm]\b)( ?[AaPp][Mm]\b)?/TIME/`,
	},
	Address:  {`s/0x[0-9a-fA-F]+/ADDRESS/`},
	UUID:     {`s/[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/UUID/`},
	TempPath: {`s|/(var/)?tmp/[\w./-]+|TEMP|`},
	Duration: {`s/(\d+d )?(\d+h )?(\d+m )?(\d+(\.\d+)?(ns|us|µs|ms|s|min|m|h))+\b/DURATION/`},
}

// Rules returns rules of --normalize that may make the texts of a class equal.
func (c Class) Rules() []string { return rules[c] }
