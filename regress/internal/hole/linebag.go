package hole

import (
	"slices"
	"strings"
)

// A lineBag is a bag of lines. Lines that vary count by their shapes, and by those of their tokens that are
// the same in all texts, in another order of the lines.
type lineBag struct {
	texts  map[string]int
	varies map[string][]bool // whether each token of a shape varies, for the lines that are not in texts
	groups map[string]*lineGroup
	size   int
}

// A lineGroup is lines that differ only in tokens that vary.
type lineGroup struct {
	count  int      // in one text
	lines  []string // of all texts
	pieces []piece  // what the lines share, with holes
}

// newLineBag returns the bag of a part of a text, with its alternatives in the other texts. All have
// the same shapes.
func newLineBag(alternatives [][]string) lineBag {
	b := lineBag{texts: newBag(alternatives[0]).counts, varies: map[string][]bool{}, groups: map[string]*lineGroup{}, size: len(alternatives[0])}
	for _, lines := range alternatives[1:] {
		counts := newBag(lines).counts
		for text, n := range b.texts {
			b.texts[text] = min(n, counts[text])
		}
	}
	rest := make([][]string, len(alternatives))
	shaped := map[string][][][]token{}
	for k, lines := range alternatives {
		rest[k] = b.rest(lines)
		for _, line := range rest[k] {
			tokens := tokensOf(line)
			shape := shapeOf(tokens)
			if shaped[shape] == nil {
				shaped[shape] = make([][][]token, len(alternatives))
			}
			shaped[shape][k] = append(shaped[shape][k], tokens)
		}
	}
	for shape, texts := range shaped {
		b.varies[shape] = varyingTokens(texts)
	}
	for k, lines := range rest {
		for _, line := range lines {
			key := b.keyOf(line)
			if b.groups[key] == nil {
				b.groups[key] = &lineGroup{}
			}
			b.groups[key].lines = append(b.groups[key].lines, line)
			if k == 0 {
				b.groups[key].count++
			}
		}
	}
	for _, g := range b.groups {
		g.pieces = columnsOf(g.lines)
	}
	return b
}

// holesIn counts the tokens that vary.
func holesIn(varies []bool) (count int) {
	for _, one := range varies {
		if one {
			count++
		}
	}
	return count
}

// varyingTokens reports which tokens of the lines of one shape vary. There is a list of lines for each
// text. Tokens do not vary if every text has the same combinations of them, as often.
func varyingTokens(texts [][][]token) []bool {
	type combination struct {
		before int // number of the combination without its last token
		last   string
	}
	type use struct {
		number int
		counts []int // in each text
	}
	lines := slices.Concat(texts...)
	varies, numbers := make([]bool, len(lines[0])), make([]int, len(lines))
	for i := range varies {
		uses, next := map[combination]use{}, make([]int, 0, len(lines))
		for k, text := range texts {
			for _, line := range text {
				c := combination{numbers[len(next)], line[i].text}
				if _, known := uses[c]; !known {
					uses[c] = use{len(uses), make([]int, len(texts))}
				}
				uses[c].counts[k]++
				next = append(next, uses[c].number)
			}
		}
		for _, u := range uses {
			varies[i] = varies[i] || slices.Min(u.counts) != slices.Max(u.counts)
		}
		if !varies[i] {
			numbers = next
		}
	}
	return varies
}

// keyOf returns the key of the group of a line: its shape and the tokens that do not vary.
func (b lineBag) keyOf(line string) string {
	tokens := tokensOf(line)
	key := []string{shapeOf(tokens)}
	for i, varies := range b.varies[key[0]] {
		if !varies && i < len(tokens) {
			key = append(key, tokens[i].text)
		}
	}
	return strings.Join(key, "\x00")
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
		if !isText {
			if g := b.groups[b.keyOf(line)]; g != nil {
				line = markPieces(g.pieces, line)
			}
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
	found := make(map[string]int, len(b.groups))
	for _, line := range b.rest(lines) {
		key := b.keyOf(line)
		g := b.groups[key]
		if found[key]++; g == nil || found[key] > g.count || !fitPieces(g.pieces, line) {
			return false
		}
	}
	return true
}
