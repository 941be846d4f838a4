package hole

import "strings"

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

// A lineBag is a bag of lines. Lines that vary count by their shapes.
type lineBag struct {
	texts  map[string]int
	shapes map[string]int // of the lines that are not in texts
	size   int
}

// newLineBag returns the bag of a part of a text, with its alternatives in the other texts. All have
// the same shapes.
func newLineBag(alternatives [][]string) lineBag {
	b := lineBag{texts: newBag(alternatives[0]).counts, shapes: map[string]int{}, size: len(alternatives[0])}
	for _, lines := range alternatives[1:] {
		counts := newBag(lines).counts
		for text, n := range b.texts {
			b.texts[text] = min(n, counts[text])
		}
	}
	for _, line := range b.rest(alternatives[0]) {
		b.shapes[shapeOf(line)]++
	}
	return b
}

// rest returns the lines that are not among the texts of the bag, in order.
func (b lineBag) rest(lines []string) (rest []string) {
	found := make(map[string]int, len(b.texts))
	for _, line := range lines {
		if found[line] < b.texts[line] {
			found[line]++
			continue
		}
		rest = append(rest, line)
	}
	return rest
}

// marked returns lines with marks in those that vary.
func (b lineBag) marked(lines []string) string {
	var text strings.Builder
	found := make(map[string]int, len(b.texts))
	for _, line := range lines {
		if found[line] < b.texts[line] {
			found[line]++
			text.WriteString(line)
			continue
		}
		text.WriteString(shapeOf(line))
	}
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
		if found[shape]++; found[shape] > b.shapes[shape] {
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
