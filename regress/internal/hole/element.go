package hole

import (
	"slices"
	"strings"
)

// elementKind is how an element compares lines.
type elementKind uint8

const (
	fixed    elementKind = iota // the lines are equal in all texts
	varied                      // one line with holes
	shuffled                    // the same lines in another order; some may vary, too
	mixed                       // the same words in another order, over several lines
	anything                    // any number of lines
)

// An element is a part of a pattern: some lines of the first text.
type element struct {
	kind   elementKind
	from   int      // index of the first line
	lines  []string // of the first text
	most   int      // of the kind anything: the lines of the longest text
	pieces []piece  // of the kind varied
	all    lineBag  // of the kind shuffled
	words  bag      // of the kind mixed: the tokens
}

// length returns how many lines the element stands for, or anyLength.
func (e *element) length() int {
	if e.kind == anything {
		return anyLength
	}
	return len(e.lines)
}

// fits reports whether lines, as many as the length of the element, fit it. The element is not fixed.
func (e *element) fits(lines []string) bool {
	switch e.kind {
	case varied:
		return lines[0] == e.lines[0] || fitPieces(e.pieces, lines[0])
	case shuffled:
		return e.all.equals(lines)
	}
	return e.words.equals(wordsIn(lines))
}

// hasFreeText reports whether lines of the element are not checked.
func (e *element) hasFreeText() bool {
	return e.kind == anything || slices.ContainsFunc(e.pieces, func(p piece) bool { return p.literal == nil && p.class == Free })
}

// classes returns the classes of the holes.
func (e *element) classes() (list []Class) {
	switch e.kind {
	case shuffled, mixed:
		return []Class{Order}
	case anything:
		return []Class{Free}
	}
	for _, p := range e.pieces {
		if p.literal == nil {
			list = append(list, p.class)
		}
	}
	return list
}

// height returns the lines of the element in the text that has most.
func (e *element) height() int { return max(e.most, len(e.lines)) }

// varying returns the number of lines whose words vary, apart from their order.
func (e *element) varying() int {
	switch {
	case e.kind == anything, e.kind == varied && !slices.Contains(e.classes(), Order):
		return e.height()
	case e.kind == shuffled:
		return len(e.all.rest(e.lines))
	}
	return 0
}

// addTo counts the lines of the element.
func (e *element) addTo(c *Count) {
	c.All += e.height()
	if e.kind == fixed {
		return
	}
	c.Holes += e.height()
	if e.hasFreeText() {
		c.Free += e.height()
	}
}

// stepsMax bounds the lines that are compared with fixed elements, and the bytes with others. Texts of equal
// lines around holes for any number of lines could need their square.
const stepsMax = 1 << 28

// fitLines reports whether lines fit elements.
func fitLines(elements []element, lines []string) bool {
	steps := 0
	return fit(len(elements), len(lines), func(i int) int { return elements[i].length() }, func(i, at int) bool {
		e, found := &elements[i], lines[at:at+len(elements[i].lines)]
		for k, line := range found {
			if steps++; e.kind != fixed {
				steps += len(line)
			} else if line != e.lines[k] {
				return false
			}
		}
		return steps <= stepsMax && (e.kind == fixed || e.fits(found))
	})
}

// wordsIn returns the tokens of lines, with their newlines. A last line without one ends with an empty
// word, so that texts with the same words have as many lines.
func wordsIn(lines []string) (words []string) {
	for _, line := range lines {
		words = append(words, textsOf(tokensOf(line))...)
		if !strings.HasSuffix(line, "\n") {
			words = append(words, "")
		}
	}
	return words
}
