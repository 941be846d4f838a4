package cause

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
	"muster/regress/internal/plaintext"
)

const (
	fillersMin  = 4  // different words that make a slot a parameter
	literalMin  = 3  // cases in which a word must occur to stay literal …
	literalPart = 50 // … and one in this number of all cases
	shortNumber = 4  // digits of the longest number that stays literal
)

// A shape is a pattern with slots, and the patterns that it stands for.
type shape struct {
	pattern.Pattern
	text    string
	members []int // indexes of patterns
	cases   int
}

// filledPattern is a pattern with the contents of its slots.
type filledPattern struct {
	pattern int
	slots   []pattern.Piece
}

// generalize makes shapes of patterns. Patterns that differ only in words and long numbers share a
// shape if they are many and none stands out.
func (f *finder) generalize() {
	placeSpaces(f.patterns)
	all := make([]*pattern.Pattern, len(f.patterns))
	for i := range f.patterns {
		all[i] = &f.patterns[i].Pattern
	}
	generalizeKeys(all, f.literal, func(visit func(c, p int)) { f.each(func(c int, k int32) { visit(c, f.at[k]) }) })
	isDone := generalizeSentences(f)
	groups := map[string][]filledPattern{}
	for i := range f.patterns {
		p := &f.patterns[i]
		if !p.Sort.IsOfTokens() {
			f.addShape(p.Pattern, []int{i})
			continue
		}
		if isDone[i] {
			continue
		}
		t, slots := f.abstract(&p.Pattern, func(e pattern.Piece) bool {
			return e.Kind == token.Word || e.Kind == token.Number && len(e.Text) > shortNumber
		})
		key := t.Key()
		groups[key] = append(groups[key], filledPattern{i, slots})
	}
	var left []filledPattern
	for _, key := range sortedKeys(groups) {
		for _, part := range f.splitOutstanding(pattern.Parse(key), groups[key]) {
			left = append(left, f.splitGroup(part.Pattern, part.filled)...)
		}
	}
	f.generalizeNumbers(f.generalizeMiddles(left))
}

// sentenceHead is how many elements of a sentence stay literal: tools write sentences around names.
const sentenceHead = 2

// generalizeSentences makes one shape of the strings of documents at one path that begin alike on both sides, or
// that became their own end or beginning, or the other way round. It returns which patterns have one.
func generalizeSentences(f *finder) map[int]bool {
	head := func(side []pattern.Piece) []pattern.Piece {
		if len(side) <= sentenceHead {
			return side
		}
		return append(slices.Clone(side[:sentenceHead]), pattern.Piece{Kind: token.Length, Text: "…"})
	}
	groups, isDone := map[string][]int{}, map[int]bool{}
	for i := range f.patterns {
		p := &f.patterns[i]
		if p.Sort != pattern.Value || max(len(p.Old), len(p.Now)) <= sentenceHead {
			continue
		}
		t := pattern.Pattern{Sort: p.Sort, Old: head(p.Old), Now: head(p.Now), In: p.In}
		if whole, part := partOf(p.Old, p.Now); part != nil {
			t.Old, t.Now = whole, part
		} else if whole, part := partOf(p.Now, p.Old); part != nil {
			t.Old, t.Now = part, whole
		}
		groups[t.Key()] = append(groups[t.Key()], i)
	}
	for _, key := range sortedKeys(groups) {
		if members := groups[key]; len(members) >= fillersMin {
			f.addShape(pattern.Parse(key), members)
			for _, i := range members {
				isDone[i] = true
			}
		}
	}
	return isDone
}

// partOf returns what stands for a text and for its end or beginning, if part is that; else nil.
func partOf(text, part []pattern.Piece) (whole, of []pattern.Piece) {
	rest, end, start := pattern.Piece{Kind: token.Length, Text: "…"}, pattern.Piece{Kind: token.Length, Text: "END"}, pattern.Piece{Kind: token.Length, Text: "START"}
	n := len(text) - len(part)
	switch {
	case n <= 0 || len(part) == 0:
	case slices.Equal(text[n:], part):
		return []pattern.Piece{rest, end}, []pattern.Piece{end}
	case slices.Equal(text[:len(part)], part):
		return []pattern.Piece{start, rest}, []pattern.Piece{start}
	}
	return nil, nil
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
			if p := &patterns[i]; p.Sort == pattern.Space {
				in, other, _ := strings.Cut(p.In, pattern.OtherNeighbour)
				visit(p, context{p.Rest, in}, context{p.Rest, other})
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
		p.In = in.in
		isGuess := in.in == pattern.InComment || in.in == pattern.InString
		shared := float64(both[[2]context{in, other}]) >= explained*float64(first[in])
		if other.in != "" && all[other] > all[in] && (isGuess || shared) {
			p.In = other.in
		}
	})
}

// A patternPart is some patterns of a group, and what they have in common.
type patternPart struct {
	pattern.Pattern
	filled []filledPattern
}

const (
	standsOut = 8 // a word stands out if at least one in this number of the group's cases has it
	firmMin   = 2 // signs that make a pattern recognisable by themselves
)

// splitOutstanding keeps words literal that stand out in their group because they occur in many
// cases. If the pattern is recognisable without them, they must also occur in a large part of the
// group.
func (f *finder) splitOutstanding(t pattern.Pattern, group []filledPattern) (parts []patternPart) {
	firm := t.Sort != pattern.Edit || t.CountSigns() >= firmMin
	cases, by := 0, map[pattern.Piece]int{}
	for _, g := range group {
		n := f.patterns[g.pattern].cases
		cases += n
		for i, e := range g.slots {
			by[pattern.Piece{Kind: token.Kind(i), Text: e.Text}] += n
		}
	}
	isOutstanding := func(i int, text string) bool {
		return f.words[text].cases >= f.literal && (!firm || by[pattern.Piece{Kind: token.Kind(i), Text: text}]*standsOut >= cases)
	}
	// If many stand out, and none of them far, none does: these are registers, or tags, or types.
	crowds := make([]int, len(group[0].slots))
	for at, n := range by {
		switch i := int(at.Kind); {
		case 2*n > cases:
			crowds[i] -= len(by)
		case isOutstanding(i, at.Text):
			crowds[i]++
		}
	}
	again := map[string]int{}
	for _, g := range group {
		varies := map[pattern.Piece]bool{}
		for i, e := range g.slots {
			varies[e] = e.Kind != token.Word || !isOutstanding(i, e.Text) || crowds[i] >= fillersMin && !t.IsBare()
		}
		q, slots := f.abstract(&f.patterns[g.pattern].Pattern, func(e pattern.Piece) bool { return varies[e] })
		key := q.Key()
		n, known := again[key]
		if !known {
			n = len(parts)
			again[key] = n
			parts = append(parts, patternPart{Pattern: q})
		}
		parts[n].filled = append(parts[n].filled, filledPattern{g.pattern, slots})
	}
	return parts
}

// generalizeMiddles makes one shape of replacements of words in which the same letters change.
func (f *finder) generalizeMiddles(all []filledPattern) (left []filledPattern) {
	groups := map[string][]filledPattern{}
	for _, l := range all {
		p := &f.patterns[l.pattern]
		t, ok := middle(&p.Pattern)
		if !ok {
			left = append(left, l)
			continue
		}
		groups[t.Key()] = append(groups[t.Key()], l)
	}
	for _, key := range sortedKeys(groups) {
		if group := groups[key]; len(group) < fillersMin {
			left = append(left, group...)
		} else {
			for _, l := range group {
				f.addShape(pattern.Parse(key), []int{l.pattern})
			}
		}
	}
	return left
}

// middle removes what two words share at their ends, if that is at least four characters.
func middle(p *pattern.Pattern) (t pattern.Pattern, ok bool) {
	if p.Sort != pattern.Edit || len(p.Old) != 1 || len(p.Now) != 1 || p.Old[0].Kind != token.Word || p.Now[0].Kind != token.Word {
		return t, false
	}
	a, b := p.Old[0].Text, p.Now[0].Text
	from := plaintext.CommonPrefix([]byte(a), []byte(b))
	to := plaintext.CommonSuffix([]byte(a[from:]), []byte(b[from:]))
	if from+to < 4 {
		return t, false
	}
	return pattern.Pattern{Sort: pattern.Edit, Old: []pattern.Piece{{Kind: token.Inner, Text: a[from : len(a)-to]}}, Now: []pattern.Piece{{Kind: token.Inner, Text: b[from : len(b)-to]}}}, true
}

// generalizeNumbers treats the short numbers of the remaining patterns as generalize treats words.
func (f *finder) generalizeNumbers(left []filledPattern) {
	groups, crowds := map[string][]filledPattern{}, numberCrowds(f, left)
	for _, l := range left {
		p := &f.patterns[l.pattern]
		stays := maybeConstant(f, p) && crowds[withoutNumbers(f, &p.Pattern)] < fillersMin
		t, slots := f.abstract(&p.Pattern, func(e pattern.Piece) bool { return e.Kind == token.Number && !stays })
		groups[t.Key()] = append(groups[t.Key()], filledPattern{l.pattern, slots})
	}
	for _, key := range sortedKeys(groups) {
		for _, l := range f.splitGroup(pattern.Parse(key), groups[key]) {
			f.addShape(f.patterns[l.pattern].Pattern, []int{l.pattern})
		}
	}
}

// maybeConstant reports whether a pattern is so frequent that it may be a wrong constant: it replaces one number by
// another. Numbers at one path are columns, counts and the like, unless one is in many cases.
func maybeConstant(f *finder, p *usedPattern) bool {
	return len(p.Old) <= 1 && len(p.Now) <= 1 && p.cases >= f.literal && (p.Sort != pattern.Value || p.cases*standsOut >= len(f.cases))
}

// numberCrowds counts the patterns at each path that may be constants. If these are many, and none of them is by
// far the most frequent, none is a constant: an element before many others shifts all their indexes.
func numberCrowds(f *finder, left []filledPattern) map[string]int {
	cases, crowds := map[string]int{}, map[string]int{}
	for _, l := range left {
		if p := &f.patterns[l.pattern]; p.Sort == pattern.Value {
			cases[withoutNumbers(f, &p.Pattern)] += p.cases
		}
	}
	for _, l := range left {
		if p := &f.patterns[l.pattern]; p.Sort == pattern.Value && maybeConstant(f, p) {
			path := withoutNumbers(f, &p.Pattern)
			if crowds[path]++; 2*p.cases > cases[path] {
				crowds[path] -= len(left)
			}
		}
	}
	return crowds
}

// withoutNumbers returns the key of a pattern with slots for its numbers.
func withoutNumbers(f *finder, p *pattern.Pattern) string {
	t, _ := f.abstract(p, func(e pattern.Piece) bool { return e.Kind == token.Number })
	return t.Key()
}

// abstract puts slots into a pattern where the elements may differ.
func (f *finder) abstract(p *pattern.Pattern, free func(pattern.Piece) bool) (t pattern.Pattern, slots []pattern.Piece) {
	t.Sort, t.In = p.Sort, p.In
	put := func(side []pattern.Piece) []pattern.Piece {
		out := make([]pattern.Piece, len(side))
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
			k := token.Slot
			if e.Kind == token.Number {
				k = token.Digits
			}
			out[i] = pattern.Piece{Kind: k, Text: strconv.Itoa(n + 1)}
		}
		return out
	}
	t.Old, t.Now = put(p.Old), put(p.Now)
	return t, slots
}

// splitGroup makes shapes of a group whose slots all have enough fillers. A slot with too few
// becomes literal. It returns the patterns that end up alone.
func (f *finder) splitGroup(t pattern.Pattern, group []filledPattern) (left []filledPattern) {
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
			key.WriteString(g.slots[n].Text)
			key.WriteByte(' ')
		}
		parts[key.String()] = append(parts[key.String()], g)
	}
	for _, key := range sortedKeys(parts) {
		part := parts[key]
		kept := map[pattern.Piece]bool{}
		for _, n := range poor {
			kept[part[0].slots[n]] = true
		}
		var again pattern.Pattern
		for i, g := range part {
			again, part[i].slots = f.abstract(&f.patterns[g.pattern].Pattern, func(e pattern.Piece) bool {
				return !kept[e] && slices.Contains(g.slots, e)
			})
		}
		left = append(left, f.splitGroup(again, part)...)
	}
	return left
}

// poorSlots returns the indexes of the slots that are not parameters.
func (f *finder) poorSlots(t pattern.Pattern, group []filledPattern) (poor []int) {
	n := len(group[0].slots)
	bare := t.Sort == pattern.Edit && len(t.Old) == 1 && len(t.Now) == 1 && n == 2 && t.Old[0].Kind == token.Slot
	for i := range n {
		different := map[string]bool{}
		for _, g := range group {
			if different[g.slots[i].Text] = true; len(different) >= fillersMin {
				break
			}
		}
		if len(different) < fillersMin || bare {
			poor = append(poor, i)
		}
	}
	return poor
}

func (f *finder) addShape(t pattern.Pattern, members []int) {
	text := t.Key()
	if t.Sort == pattern.Move && !t.HasWord() && t.In == "" {
		t, text = pattern.Pattern{Sort: pattern.Move}, string(pattern.Move)
	}
	n, known := f.shapeOf[text]
	if !known {
		n = len(f.shapes)
		f.shapeOf[text] = n
		t.Spaces = f.patterns[members[0]].Spaces
		f.shapes = append(f.shapes, shape{Pattern: t, text: text})
	}
	f.shapes[n].members = append(f.shapes[n].members, members...)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
