package cause

import "slices"

// An Index has the patterns of causes, for what a single case is compared with. Making one
// costs a look at all patterns, asking it does not. Several goroutines may ask it at once.
type Index struct {
	exact map[string][]int // by a pattern as it is kept
	open  openPatterns
	atoms atoms // with all its work left: who asks works on a copy
	rest  int   // the cause of whatever is edited; -1 for none
}

// anyEdit is the pattern of the cause in which everything was rewritten.
const anyEdit = "*"

// NewIndex returns an index of causes, which answers with their indexes here.
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
					x.atoms.addAll(parse(unshown(s[1:])), i)
				}
			default:
				p := parse(unshown(s))
				x.open.add(p, i)
				x.atoms.addAll(p, i)
			}
		}
	}
	return x
}

// of returns the causes of a pattern. The atoms are those of who asks.
func (x *Index) of(key string, a *atoms) (found []int) {
	// A pattern that was seen has its causes, also where one that was not could be of
	// others: a word that stands out is literal, and the rest of its like has a slot.
	if found = slices.Clone(x.exact[exactKey(key)]); len(found) > 0 {
		return found
	}
	p := parse(key)
	if found = x.open.of(&p); len(found) > 0 {
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

// Explain is Shows, and reports whether that is all: false says that the case has an
// edit which is of none of the causes.
func (x *Index) Explain(c Case) (shown []int, all bool) {
	all = true
	a := x.atoms // the work that is left is its own
	s, w := New().look(c)
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
		of := x.of(w.list[p], &a)
		shown = append(shown, of...)
		all = all && (len(of) > 0 || x.rest >= 0)
	}
	slices.Sort(shown)
	return slices.Compact(shown), all
}
