package cause

import (
	"slices"
	"strconv"
	"strings"
)

const (
	fillersMin  = 4 // different words that make a slot a parameter
	literalMin  = 3 // cases in which a word must occur to stay as it is …
	literalPart = 50 // … and one in so many of all
	shortNumber = 4 // digits up to which a number stays as it is
)

// A shape is a pattern with slots, and the patterns that it was made of.
type shape struct {
	pattern
	text    string
	members []int // indexes of patterns
	cases   int
}

// filled is a pattern, and what its slots hold.
type filled struct {
	pattern int
	slots   []piece
}

// generalize returns the shapes of patterns: those of rare words and long numbers that
// differ in nothing else are one.
func (f *finder) generalize() {
	groups := map[string][]filled{}
	for i := range f.patterns {
		p := &f.patterns[i]
		if !isOfTokens(p.sort) {
			f.shape(p.pattern, []int{i})
			continue
		}
		t, slots := f.abstract(&p.pattern, func(e piece) bool { return f.isRare(e) })
		groups[t.key()] = append(groups[t.key()], filled{i, slots})
	}
	var left []filled
	for _, key := range sortedKeys(groups) {
		left = append(left, f.split(parse(key), groups[key])...)
	}
	f.numbers(left)
}

// numbers does for short numbers what generalize did for words, with what is left.
func (f *finder) numbers(left []filled) {
	groups := map[string][]filled{}
	for _, l := range left {
		p := &f.patterns[l.pattern].pattern
		t, slots := f.abstract(p, func(e piece) bool { return e.kind == number && !f.isCommonPair(l.pattern) })
		groups[t.key()] = append(groups[t.key()], filled{l.pattern, slots})
	}
	for _, key := range sortedKeys(groups) {
		for _, l := range f.split(parse(key), groups[key]) {
			f.shape(f.patterns[l.pattern].pattern, []int{l.pattern})
		}
	}
}

// isCommonPair reports whether a pattern is one number in the place of another, and
// frequent: that may be a wrong constant.
func (f *finder) isCommonPair(i int) bool {
	p := &f.patterns[i]
	return len(p.old) <= 1 && len(p.now) <= 1 && p.cases >= f.literal
}

// abstract puts slots into a pattern where the elements may differ.
func (f *finder) abstract(p *pattern, free func(piece) bool) (t pattern, slots []piece) {
	t.sort = p.sort
	put := func(side []piece) []piece {
		out := make([]piece, len(side))
		for i, e := range side {
			out[i] = e
			if !free(e) {
				continue
			}
			n := slices.Index(slots, e)
			if n < 0 {
				n = len(slots)
				slots = append(slots, e)
			}
			k := slot
			if e.kind == number {
				k = digits
			}
			out[i] = piece{k, strconv.Itoa(n + 1)}
		}
		return out
	}
	t.old, t.now = put(p.old), put(p.now)
	return t, slots
}

func (f *finder) isRare(e piece) bool {
	switch e.kind {
	case word:
		return f.wordCases[e.text] < f.literal
	case number:
		return len(e.text) > shortNumber
	}
	return false
}

// split makes shapes of a group whose slots all have enough fillers; a slot that has
// not is what its fillers are. Patterns that come to stand alone are returned.
func (f *finder) split(t pattern, group []filled) (left []filled) {
	poor := f.poor(t, group)
	if len(poor) == 0 {
		if len(group[0].slots) == 0 {
			return group
		}
		members := make([]int, len(group))
		for i, g := range group {
			members[i] = g.pattern
		}
		f.shape(t, members)
		return nil
	}
	parts := map[string][]filled{}
	for _, g := range group {
		var key strings.Builder
		for _, n := range poor {
			key.WriteString(g.slots[n].text)
			key.WriteByte(' ')
		}
		parts[key.String()] = append(parts[key.String()], g)
	}
	for _, key := range sortedKeys(parts) {
		part := parts[key]
		kept := map[piece]bool{}
		for _, n := range poor {
			kept[part[0].slots[n]] = true
		}
		var again pattern
		for i, g := range part {
			again, part[i].slots = f.abstract(&f.patterns[g.pattern].pattern, func(e piece) bool {
				return !kept[e] && slices.Contains(g.slots, e)
			})
		}
		left = append(left, f.split(again, part)...)
	}
	return left
}

// poor returns the slots that are no parameters, as indexes.
func (f *finder) poor(t pattern, group []filled) (poor []int) {
	n := len(group[0].slots)
	bare := t.sort == "e" && len(t.old) == 1 && len(t.now) == 1 && n == 2 && t.old[0].kind == slot
	for i := range n {
		different := map[string]bool{}
		for _, g := range group {
			if different[g.slots[i].text] = true; len(different) >= fillersMin {
				break
			}
		}
		if len(different) < fillersMin || bare {
			poor = append(poor, i)
		}
	}
	return poor
}

func (f *finder) shape(t pattern, members []int) {
	text := t.key()
	if t.sort == "m" {
		text = "m"
	}
	n, known := f.shapeOf[text]
	if !known {
		n = len(f.shapes)
		f.shapeOf[text] = n
		f.shapes = append(f.shapes, shape{pattern: t, text: text})
	}
	f.shapes[n].members = append(f.shapes[n].members, members...)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
