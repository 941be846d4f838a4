package cause

import (
	"slices"
	"strconv"
	"strings"
)

const (
	fillersMin  = 4  // different words that make a slot a parameter
	literalMin  = 3  // cases in which a word must occur to stay as it is …
	literalPart = 50 // … and one in so many of all
	shortNumber = 4  // digits up to which a number stays as it is
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

// generalize makes shapes of patterns: those of words and long numbers that differ in
// nothing else are one, where these are many and none of them stands out.
func (f *finder) generalize() {
	groups := map[string][]filled{}
	for i := range f.patterns {
		p := &f.patterns[i]
		if !p.sort.isOfTokens() {
			f.shape(p.pattern, []int{i})
			continue
		}
		t, slots := f.abstract(&p.pattern, func(e piece) bool { return e.kind == word || e.kind == number && len(e.text) > shortNumber })
		key := t.key()
		groups[key] = append(groups[key], filled{i, slots})
	}
	var left []filled
	for _, key := range sortedKeys(groups) {
		for _, part := range f.outstanding(parse(key), groups[key]) {
			left = append(left, f.split(part.pattern, part.filled)...)
		}
	}
	f.numbers(f.middles(left))
}

// a part is some patterns of a group, and what they have alike.
type part struct {
	pattern
	filled []filled
}

const (
	standsOut = 8 // a word does that is in one of so many cases of its group
	firmMin   = 2 // signs in a pattern that say by themselves what it is
)

// outstanding keeps words as they are that stand out in their group: that occur in many
// cases, and, if the pattern says something without them, in a large part of the group.
func (f *finder) outstanding(t pattern, group []filled) (parts []part) {
	firm := t.sort != sortEdit || t.signs() >= firmMin
	cases, by := 0, map[piece]int{}
	for _, g := range group {
		n := f.patterns[g.pattern].cases
		cases += n
		for i, e := range g.slots {
			by[piece{kind(i), e.text}] += n
		}
	}
	again := map[string]int{}
	for _, g := range group {
		stays := func(e piece) bool {
			i := slices.Index(g.slots, e)
			return i < 0 || e.kind == word && f.wordCases[e.text] >= f.literal && (!firm || by[piece{kind(i), e.text}]*standsOut >= cases)
		}
		kept := map[piece]bool{}
		for _, e := range g.slots {
			kept[e] = stays(e)
		}
		q, slots := f.abstract(&f.patterns[g.pattern].pattern, func(e piece) bool {
			stay, isSlot := kept[e]
			return isSlot && !stay
		})
		key := q.key()
		n, known := again[key]
		if !known {
			n = len(parts)
			again[key] = n
			parts = append(parts, part{pattern: q})
		}
		parts[n].filled = append(parts[n].filled, filled{g.pattern, slots})
	}
	return parts
}

// signs counts those that are more than a comma.
func (p *pattern) signs() (n int) {
	for _, side := range [...][]piece{p.old, p.now} {
		for _, e := range side {
			if e.kind == sign && e.text != "," && e.text != "." {
				n++
			}
		}
	}
	return n
}

// middles makes one shape of rare words in the place of which others come that differ
// from them in the same letters.
func (f *finder) middles(all []filled) (left []filled) {
	groups := map[string][]filled{}
	for _, l := range all {
		p := &f.patterns[l.pattern]
		t, ok := middle(&p.pattern)
		if !ok || p.cases >= f.literal {
			left = append(left, l)
			continue
		}
		groups[t.key()] = append(groups[t.key()], l)
	}
	for _, key := range sortedKeys(groups) {
		if group := groups[key]; len(group) < fillersMin {
			left = append(left, group...)
		} else {
			for _, l := range group {
				f.shape(parse(key), []int{l.pattern})
			}
		}
	}
	return left
}

// middle cuts off what two words share, if this is four characters or more.
func middle(p *pattern) (t pattern, ok bool) {
	if p.sort != sortEdit || len(p.old) != 1 || len(p.now) != 1 || p.old[0].kind != word || p.now[0].kind != word {
		return t, false
	}
	a, b := p.old[0].text, p.now[0].text
	from := commonPrefix([]byte(a), []byte(b))
	to := commonSuffix([]byte(a[from:]), []byte(b[from:]))
	if from+to < 4 {
		return t, false
	}
	return pattern{sort: sortEdit, old: []piece{{inner, a[from : len(a)-to]}}, now: []piece{{inner, b[from : len(b)-to]}}}, true
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
	t.sort, t.in = p.sort, p.in
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
	bare := t.sort == sortEdit && len(t.old) == 1 && len(t.now) == 1 && n == 2 && t.old[0].kind == slot
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
	if t.sort == sortMove && !t.hasWord() {
		t, text = pattern{sort: sortMove}, string(sortMove)
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
