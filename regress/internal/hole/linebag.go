package hole

import "strings"

// A lineBag is a bag of lines. Lines that vary count by their shapes.
type lineBag struct {
	texts  map[string]int
	shapes map[string]*shapedLines // of the lines that are not in texts
	size   int
}

// shapedLines are lines of one shape.
type shapedLines struct {
	count  int      // in one text
	lines  []string // of all texts
	pieces []piece  // what the lines share, with holes
}

// newLineBag returns the bag of a part of a text, with its alternatives in the other texts. All have
// the same shapes.
func newLineBag(alternatives [][]string) lineBag {
	b := lineBag{texts: newBag(alternatives[0]).counts, shapes: map[string]*shapedLines{}, size: len(alternatives[0])}
	for _, lines := range alternatives[1:] {
		counts := newBag(lines).counts
		for text, n := range b.texts {
			b.texts[text] = min(n, counts[text])
		}
	}
	for k, lines := range alternatives {
		for _, line := range b.rest(lines) {
			shape := shapeOf(line)
			if b.shapes[shape] == nil {
				b.shapes[shape] = &shapedLines{}
			}
			b.shapes[shape].lines = append(b.shapes[shape].lines, line)
			if k == 0 {
				b.shapes[shape].count++
			}
		}
	}
	for _, s := range b.shapes {
		s.pieces = columnsOf(s.lines)
	}
	return b
}

// rest returns the lines that are not among the texts of the bag, in order.
func (b lineBag) rest(lines []string) (rest []string) {
	b.visit(lines, func(line string, isText bool) {
		if !isText {
			rest = append(rest, line)
		}
	})
	return rest
}

// visit calls do for each line, and reports whether it is among the texts of the bag.
func (b lineBag) visit(lines []string, do func(line string, isText bool)) {
	found := make(map[string]int, len(b.texts))
	for _, line := range lines {
		isText := found[line] < b.texts[line]
		if isText {
			found[line]++
		}
		do(line, isText)
	}
}

// marked returns lines with marks in those that vary.
func (b lineBag) marked(lines []string) string {
	var text strings.Builder
	b.visit(lines, func(line string, isText bool) {
		if s := b.shapes[shapeOf(line)]; !isText && s != nil {
			line = markPieces(s.pieces, line)
		}
		text.WriteString(line)
	})
	return text.String()
}

// equals reports whether lines are those of the bag, in any order.
func (b lineBag) equals(lines []string) bool {
	if len(lines) != b.size {
		return false
	}
	found := make(map[string]int, len(b.shapes))
	for _, line := range b.rest(lines) {
		shape := shapeOf(line)
		s := b.shapes[shape]
		if found[shape]++; s == nil || found[shape] > s.count || !fitPieces(s.pieces, line) {
			return false
		}
	}
	return true
}
