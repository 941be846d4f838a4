package cause

import (
	"cmp"
	"slices"
	"strings"
)

// resolve takes patterns apart that are several adjacent edits, and gives each other pattern its
// shape.
func (f *finder) resolve() {
	for i := range f.shapes {
		for _, m := range f.shapes[i].members {
			f.patterns[m].shape = i
		}
	}
	f.countShapes()
	order := f.frequentShapes()
	if len(order) == 0 {
		return
	}
	a, halves, most := newAtoms(), f.halves(order), f.shapes[order[0]].cases
	for _, i := range order {
		a.addAll(f.shapes[i].pattern, i)
	}
	for i := range f.patterns {
		p := &f.patterns[i]
		if s, ok := halves.find(&p.pattern); ok && f.shapes[s].cases >= max(1, f.shapes[p.shape].cases) {
			p.tiles = []tile{{s, len(p.old), len(p.now)}}
		} else if enough := f.casesMin(p); p.isEdit() && !isOnePair(&p.pattern) && most >= enough {
			p.tiles, _ = a.parse(&p.pattern, atomsMax, func(s int) bool { return s != p.shape && f.shapes[s].cases >= enough })
		}
	}
	f.resolveAgain(&a)
	f.countShapes()
}

// resolveAgain takes patterns apart once more if their atoms consist of others. It uses only atoms
// that do not.
func (f *finder) resolveAgain(a *atoms) {
	whole := make([]bool, len(f.shapes))
	for i := range f.patterns {
		p := &f.patterns[i]
		whole[p.shape] = whole[p.shape] || len(p.tiles) == 0
	}
	for i := range f.patterns {
		p := &f.patterns[i]
		if !slices.ContainsFunc(p.tiles, func(t tile) bool { return !whole[t.shape] }) {
			continue
		}
		enough := f.casesMin(p)
		usable := func(s int) bool { return s != p.shape && whole[s] && f.shapes[s].cases >= enough }
		if tiles, ok := a.parse(&p.pattern, atomsAlone, usable); ok {
			p.tiles = tiles
		}
	}
}

// casesMin is the number of cases that an atom of a pattern must have.
func (f *finder) casesMin(p *usedPattern) int { return 2 * max(1, f.shapes[p.shape].cases) }

// frequentShapes returns the shapes that may be atoms, the most frequent first.
func (f *finder) frequentShapes() (order []int) {
	for i := range f.shapes {
		if f.shapes[i].cases >= literalMin {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(f.shapes[y].cases, f.shapes[x].cases), cmp.Compare(f.shapes[x].text, f.shapes[y].text))
	})
	return order
}

// A half is one of the brackets around something, as an edit that adds or removes it.
type half struct{ adds, removes, in string }

// halves indexes shapes of brackets around something by their halves. The values are positions in
// order.
type halves struct {
	order []int
	at    map[half]int
}

// anywhere is the context of a half whose place does not matter.
const anywhere = "\t"

func (f *finder) halves(order []int) halves {
	h := halves{order, map[half]int{}}
	for n, i := range order {
		w := &f.shapes[i]
		if w.sort != sortWrap && w.sort != sortUnwrap {
			continue
		}
		for _, side := range [...][]piece{w.old, w.now} {
			for _, in := range [...]string{w.in, anywhere} {
				k := half{adds: sideText(side), in: in}
				if w.sort == sortUnwrap {
					k.adds, k.removes = "", k.adds
				}
				if _, known := h.at[k]; !known {
					h.at[k] = n
				}
			}
		}
	}
	return h
}

// find returns the most frequent shape that has an edit as one half. The other half is outside the
// edit's hunk.
func (h *halves) find(p *pattern) (shape int, ok bool) {
	if !p.isEdit() || len(p.old) > 0 && len(p.now) > 0 {
		return 0, false
	}
	k := half{sideText(p.now), sideText(p.old), p.in}
	contexts := [...]string{p.in, ""}
	if p.in == "" {
		contexts[1] = anywhere
	}
	first := len(h.order)
	for _, k.in = range contexts {
		if n, known := h.at[k]; known {
			first = min(first, n)
		}
	}
	if first == len(h.order) {
		return 0, false
	}
	return h.order[first], true
}

// isOnePair reports whether a pattern replaces one element by one. That is never two edits.
func isOnePair(p *pattern) bool { return len(p.old) == 1 && len(p.now) == 1 }

// countShapes counts the cases of each shape.
func (f *finder) countShapes() {
	last := make([]int, len(f.shapes))
	for i := range f.shapes {
		f.shapes[i].cases = 0
	}
	f.each(func(c int, k int32) {
		f.patterns[f.at[k]].each(func(s int) {
			if last[s] != c+1 {
				last[s] = c + 1
				f.shapes[s].cases++
			}
		})
	})
}

// each calls visit for the shapes of a pattern.
func (p *usedPattern) each(visit func(shape int)) {
	if p.tiles == nil {
		visit(p.shape)
	}
	for _, t := range p.tiles {
		visit(t.shape)
	}
}

// An Index finds the causes of a single case. Making it visits all patterns. Queries do not.
// Several goroutines may query it at once.
type Index struct {
	exact map[string][]int // by stored pattern
	open  openPatterns
	atoms atoms // with all its work left: each query works on a copy
	rest  int   // the cause of any edit; -1 for no such cause
}

// anyEdit is the pattern of the cause Rewritten, which has all edits.
const anyEdit = "*"

// NewIndex returns an index of causes. Its methods return indexes of this list.
func NewIndex(causes []Cause) *Index {
	x := &Index{exact: map[string][]int{}, open: newOpenPatterns(), atoms: newAtoms(), rest: -1}
	for i, c := range causes {
		for _, s := range c.Patterns {
			switch {
			case s == anyEdit:
				x.rest = i
			case s != "" && (s[0] == '=' || s[0] == '#'):
				x.exact[s] = append(x.exact[s], i)
				if s[0] == '=' {
					x.atoms.addAll(parse(unescapeKey(s[1:])), i)
				}
			default:
				p := parse(unescapeKey(s))
				x.open.add(p, i)
				x.atoms.addAll(p, i)
			}
		}
	}
	return x
}

// causesOf returns the causes of a pattern. a is the caller's copy of the atoms.
func (x *Index) causesOf(key string, a *atoms) (found []int) {
	// A pattern that occurred has its own causes, even if an open pattern would match it too. A
	// word that stands out is literal, while similar patterns have a slot there.
	if found = slices.Clone(x.exact[exactKey(key)]); len(found) > 0 {
		return found
	}
	p := parse(key)
	if p.sort == sortSpace {
		in, other, _ := strings.Cut(p.in, otherNeighbour)
		for _, p.in = range []string{in, other} {
			if found = slices.Clone(x.exact[exactKey(p.key())]); len(found) > 0 {
				return found
			}
		}
		return nil
	}
	if found = x.open.causesOf(&p); len(found) > 0 {
		return found
	}
	if tiles, ok := a.parse(&p, atomsAlone, func(int) bool { return true }); ok {
		for _, t := range tiles {
			found = append(found, t.shape)
		}
	}
	return found
}

// Shows returns which of the causes a single case shows, as indexes in ascending order.
func (x *Index) Shows(c Case) (shown []int) {
	shown, _ = x.Explain(c)
	return shown
}

// Explain is Shows, and reports whether the causes cover the case. It returns false if an edit
// belongs to no cause.
func (x *Index) Explain(c Case) (shown []int, all bool) {
	all = true
	a := x.atoms // has its own count of work left
	s, w := New().compareCase(c)
	patterns := slices.Clone(s.keys)
	for _, p := range s.parts {
		for _, q := range p.places {
			patterns = append(patterns, q.pattern)
			if x.rest >= 0 {
				shown = append(shown, x.rest)
			}
		}
	}
	slices.Sort(patterns)
	for _, p := range slices.Compact(patterns) {
		of := x.causesOf(w.list[p], &a)
		shown = append(shown, of...)
		all = all && (len(of) > 0 || x.rest >= 0)
	}
	slices.Sort(shown)
	return slices.Compact(shown), all
}
