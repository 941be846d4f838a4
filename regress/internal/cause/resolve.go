package cause

import (
	"cmp"
	"slices"
	"strings"

	"muster/regress/internal/cause/pattern"
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
	a, most := newAtoms(), f.shapes[order[0]].cases
	for _, i := range order {
		a.addAll(f.shapes[i].Pattern, i)
	}
	for i := range f.patterns {
		p := &f.patterns[i]
		if p.IsEdit() && !isOnePair(&p.Pattern) && most >= f.shapes[p.shape].cases {
			p.tiles, _ = a.parse(&p.Pattern, atomsMax, func(s int) bool { return f.isAtomOf(s, p) })
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
		usable := func(s int) bool { return whole[s] && f.isAtomOf(s, p) }
		if tiles, ok := a.parse(&p.Pattern, atomsAlone, usable); ok {
			p.tiles = tiles
		}
	}
}

// isAtomOf reports whether a pattern may consist of a shape and others: twice as many cases must have the
// shape, or as many if it replaces one element by one.
func (f *finder) isAtomOf(shape int, p *usedPattern) bool {
	least := max(1, f.shapes[p.shape].cases)
	if !isOnePair(&f.shapes[shape].Pattern) {
		least *= 2
	}
	return shape != p.shape && f.shapes[shape].cases >= least
}

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

// isOnePair reports whether a pattern replaces one element by one. That is never two edits.
func isOnePair(p *pattern.Pattern) bool { return len(p.Old) == 1 && len(p.Now) == 1 }

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
	x := &Index{exact: map[string][]int{}, open: openPatterns{at: map[string][]int{}}, atoms: newAtoms(), rest: -1}
	for i, c := range causes {
		for _, s := range c.Patterns {
			switch {
			case s == anyEdit:
				x.rest = i
			case s != "" && (s[0] == '=' || s[0] == '#'):
				x.exact[s] = append(x.exact[s], i)
				if s[0] == '=' {
					x.atoms.addAll(pattern.Parse(pattern.UnescapeKey(s[1:])), i)
				}
			default:
				p := pattern.Parse(pattern.UnescapeKey(s))
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
	if found = slices.Clone(x.exact[pattern.ExactKey(key)]); len(found) > 0 {
		return found
	}
	p := pattern.Parse(key)
	if p.Sort == pattern.Space {
		in, other, _ := strings.Cut(p.In, pattern.OtherNeighbour)
		for _, p.In = range []string{in, other} {
			if found = slices.Clone(x.exact[pattern.ExactKey(p.Key())]); len(found) > 0 {
				return found
			}
		}
		return nil
	}
	if found = x.open.causesOf(&p); len(found) > 0 {
		return found
	}
	for _, h := range dataKeys(&p) {
		p.In = h.path
		if found = slices.Clone(x.exact[pattern.ExactKey(p.Key())]); len(found) == 0 {
			found = x.open.causesOf(&p)
		}
		if len(found) > 0 {
			return found
		}
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
		for _, q := range p.Places {
			patterns = append(patterns, q.Pattern)
			if x.rest >= 0 {
				shown = append(shown, x.rest)
			}
		}
	}
	slices.Sort(patterns)
	for _, p := range slices.Compact(patterns) {
		of := x.causesOf(w.List[p], &a)
		shown = append(shown, of...)
		all = all && (len(of) > 0 || x.rest >= 0)
	}
	slices.Sort(shown)
	return slices.Compact(shown), all
}
