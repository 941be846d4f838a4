package cause

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	fillersMin  = 4  // different words that make a slot a parameter
	literalMin  = 3  // cases in which a word must occur to stay literal …
	literalPart = 50 // … and one in this number of all cases
	shortNumber = 4  // digits of the longest number that stays literal
)

// A shape is a pattern with slots, and the patterns that it stands for.
type shape struct {
	pattern
	text    string
	members []int // indexes of patterns
	cases   int
}

// filledPattern is a pattern with the contents of its slots.
type filledPattern struct {
	pattern int
	slots   []piece
}

// generalize makes shapes of patterns. Patterns that differ only in words and long numbers share a
// shape if they are many and none stands out.
func (f *finder) generalize() {
	placeSpaces(f.patterns)
	groups := map[string][]filledPattern{}
	for i := range f.patterns {
		p := &f.patterns[i]
		if !p.sort.isOfTokens() {
			f.addShape(p.pattern, []int{i})
			continue
		}
		t, slots := f.abstract(&p.pattern, func(e piece) bool { return e.kind == word || e.kind == number && len(e.text) > shortNumber })
		key := t.key()
		groups[key] = append(groups[key], filledPattern{i, slots})
	}
	var left []filledPattern
	for _, key := range sortedKeys(groups) {
		for _, part := range f.splitOutstanding(parse(key), groups[key]) {
			left = append(left, f.splitGroup(part.pattern, part.filled)...)
		}
	}
	f.generalizeNumbers(f.generalizeMiddles(left))
}

const (
	explained = 0.95 // share of the places beside a sign that are also beside another one
)

// placeSpaces leaves one context to each change of a gap within a line: what it is beside. If nearly all
// places beside one sign are also beside another one that has more places, that is the context: after
// every cast a space is beside ), and beside & only where & follows. A string or a comment in which the
// same happens as outside is no context, because it may be a wrong guess.
func placeSpaces(patterns []usedPattern) {
	type context struct{ change, in string }
	first, all := map[context]int{}, map[context]int{} // how often it is the first context, and any
	both := map[[2]context]int{}
	each := func(visit func(p *usedPattern, in, other context)) {
		for i := range patterns {
			if p := &patterns[i]; p.sort == sortSpace {
				in, other, _ := strings.Cut(p.in, otherNeighbour)
				visit(p, context{p.rest, in}, context{p.rest, other})
			}
		}
	}
	each(func(p *usedPattern, in, other context) {
		first[in] += p.uses
		all[in] += p.uses
		all[other] += p.uses
		both[[2]context{in, other}] += p.uses
	})
	each(func(p *usedPattern, in, other context) {
		p.in = in.in
		isGuess := in.in == inComment || in.in == inString
		shared := float64(both[[2]context{in, other}]) >= explained*float64(first[in])
		if other.in != "" && all[other] > all[in] && (isGuess || shared) {
			p.in = other.in
		}
	})
}

// A patternPart is some patterns of a group, and what they have in common.
type patternPart struct {
	pattern
	filled []filledPattern
}

const (
	standsOut = 8 // a word stands out if at least one in this number of the group's cases has it
	firmMin   = 2 // signs that make a pattern recognisable by themselves
)

// splitOutstanding keeps words literal that stand out in their group because they occur in many
// cases. If the pattern is recognisable without them, they must also occur in a large part of the
// group.
func (f *finder) splitOutstanding(t pattern, group []filledPattern) (parts []patternPart) {
	firm := t.sort != sortEdit || t.countSigns() >= firmMin
	cases, by := 0, map[piece]int{}
	for _, g := range group {
		n := f.patterns[g.pattern].cases
		cases += n
		for i, e := range g.slots {
			by[piece{kind(i), e.text}] += n
		}
	}
	isOutstanding := func(i int, text string) bool {
		return f.words[text].cases >= f.literal && (!firm || by[piece{kind(i), text}]*standsOut >= cases)
	}
	// If many stand out, and none of them far, none does: these are registers, or tags, or types.
	crowds := make([]int, len(group[0].slots))
	for at, n := range by {
		switch i := int(at.kind); {
		case 2*n > cases:
			crowds[i] -= len(by)
		case isOutstanding(i, at.text):
			crowds[i]++
		}
	}
	again := map[string]int{}
	for _, g := range group {
		varies := map[piece]bool{}
		for i, e := range g.slots {
			varies[e] = e.kind != word || !isOutstanding(i, e.text) || crowds[i] >= fillersMin && !t.isBare()
		}
		q, slots := f.abstract(&f.patterns[g.pattern].pattern, func(e piece) bool { return varies[e] })
		key := q.key()
		n, known := again[key]
		if !known {
			n = len(parts)
			again[key] = n
			parts = append(parts, patternPart{pattern: q})
		}
		parts[n].filled = append(parts[n].filled, filledPattern{g.pattern, slots})
	}
	return parts
}

// isBare reports whether a pattern consists of slots alone.
func (p *pattern) isBare() bool {
	isSlot := func(e piece) bool { return e.kind == slot || e.kind == digits }
	return !slices.ContainsFunc(p.old, func(e piece) bool { return !isSlot(e) }) && !slices.ContainsFunc(p.now, func(e piece) bool { return !isSlot(e) })
}

// countSigns counts the signs other than comma and dot.
func (p *pattern) countSigns() (n int) {
	for _, e := range slices.Concat(p.old, p.now) {
		if e.kind == sign && e.text != "," && e.text != "." {
			n++
		}
	}
	return n
}

// generalizeMiddles makes one shape of replacements of words in which the same letters change.
func (f *finder) generalizeMiddles(all []filledPattern) (left []filledPattern) {
	groups := map[string][]filledPattern{}
	for _, l := range all {
		p := &f.patterns[l.pattern]
		t, ok := middle(&p.pattern)
		if !ok {
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
				f.addShape(parse(key), []int{l.pattern})
			}
		}
	}
	return left
}

// middle removes what two words share at their ends, if that is at least four characters.
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

// generalizeNumbers treats the short numbers of the remaining patterns as generalize treats words.
func (f *finder) generalizeNumbers(left []filledPattern) {
	groups := map[string][]filledPattern{}
	for _, l := range left {
		p := &f.patterns[l.pattern]
		// A frequent pattern that replaces one number by another may be a wrong constant.
		stays := len(p.old) <= 1 && len(p.now) <= 1 && p.cases >= f.literal
		t, slots := f.abstract(&p.pattern, func(e piece) bool { return e.kind == number && !stays })
		groups[t.key()] = append(groups[t.key()], filledPattern{l.pattern, slots})
	}
	for _, key := range sortedKeys(groups) {
		for _, l := range f.splitGroup(parse(key), groups[key]) {
			f.addShape(f.patterns[l.pattern].pattern, []int{l.pattern})
		}
	}
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

// splitGroup makes shapes of a group whose slots all have enough fillers. A slot with too few
// becomes literal. It returns the patterns that end up alone.
func (f *finder) splitGroup(t pattern, group []filledPattern) (left []filledPattern) {
	poor := f.poorSlots(t, group)
	if len(poor) == 0 {
		if len(group[0].slots) == 0 {
			return group
		}
		members := make([]int, len(group))
		for i, g := range group {
			members[i] = g.pattern
		}
		f.addShape(t, members)
		return nil
	}
	parts := map[string][]filledPattern{}
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
		left = append(left, f.splitGroup(again, part)...)
	}
	return left
}

// poorSlots returns the indexes of the slots that are not parameters.
func (f *finder) poorSlots(t pattern, group []filledPattern) (poor []int) {
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

func (f *finder) addShape(t pattern, members []int) {
	text := t.key()
	if t.sort == sortMove && !t.hasWord() {
		t, text = pattern{sort: sortMove}, string(sortMove)
	}
	n, known := f.shapeOf[text]
	if !known {
		n = len(f.shapes)
		f.shapeOf[text] = n
		t.spaces = f.patterns[members[0]].spaces
		f.shapes = append(f.shapes, shape{pattern: t, text: text})
	}
	f.shapes[n].members = append(f.shapes[n].members, members...)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
