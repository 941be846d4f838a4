package cause

import "slices"

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
