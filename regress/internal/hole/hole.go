// Package hole compares texts around the places in which they vary from run to run. Its input is
// the texts of several runs of one tool on one source. Its output is a Pattern: the lines and words
// that all runs share, and holes between them. A hole has a class, which says what its texts have
// in common. Another text fits if it equals the pattern outside the holes, and if the text in each
// hole is of its class.
//
// It knows no parts, files or rules, and keeps nothing.
package hole

import "muster/regress/internal/diff"

// A Pattern is what the texts of several runs share. It never changes after Find, so any number of
// goroutines may use it.
type Pattern struct {
	first    []byte    // the first text
	elements []element // cover all lines, in order
	whole    bool
	count    Count
	classes  [classes]bool
}

// Find returns the pattern of at least one text. It is whole if a text is binary, or if more than
// half of the lines vary. Lines in another order do not count for that: they are compared.
func Find(texts ...[]byte) *Pattern {
	p := &Pattern{first: texts[0]}
	for _, text := range texts {
		if diff.Binary(text) {
			p.whole, p.count.IsWhole = true, true
			return p
		}
	}
	p.elements = newBuilder(splitLines(texts[0]), texts).build()
	longest := 0
	for _, text := range texts {
		longest = max(longest, diff.CountLines(text))
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
	return fitLines(p.elements, splitLines(text))
}
