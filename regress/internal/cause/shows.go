package cause

import "slices"

// known are the causes that there are, for what a single case is compared with.
type known struct {
	exact map[string][]int // by a pattern as it is kept
	open  openPatterns
	atoms atoms
	rest  int // the cause of whatever is edited; -1 for none
}

// anyEdit is the pattern of the cause in which everything was rewritten.
const anyEdit = "*"

func newKnown(causes []Cause) *known {
	k := &known{exact: map[string][]int{}, open: newOpenPatterns(), atoms: newAtoms(), rest: -1}
	for i, c := range causes {
		for _, s := range c.Patterns {
			switch {
			case s == anyEdit:
				k.rest = i
			case s != "" && (s[0] == '=' || s[0] == '#'):
				k.exact[s] = append(k.exact[s], i)
				if s[0] == '=' {
					k.atoms.addAll(parse(unshown(s[1:])), i)
				}
			default:
				p := parse(unshown(s))
				k.open.add(p, i)
				k.atoms.addAll(p, i)
			}
		}
	}
	return k
}

// of returns the causes of a pattern.
func (k *known) of(key string) (found []int) {
	// A pattern that was seen has its causes, also where one that was not could be of
	// others: a word that stands out is literal, and the rest of its like has a slot.
	if found = slices.Clone(k.exact[exactKey(key)]); len(found) > 0 {
		return found
	}
	p := parse(key)
	if found = k.open.of(&p); len(found) > 0 {
		return found
	}
	if tiles, ok := k.atoms.parse(&p, atomsAlone, func(int) bool { return true }); ok {
		for _, t := range tiles {
			found = append(found, t.shape)
		}
	}
	return found
}

// Shows returns which of the causes a single case shows, as indexes in ascending order.
func Shows(causes []Cause, c Case) (shown []int) {
	shown, _ = Explain(causes, c)
	return shown
}

// Explain is Shows, and reports whether that is all: false says that the case has an
// edit which is of none of the causes.
func Explain(causes []Cause, c Case) (shown []int, all bool) {
	all = true
	k := newKnown(causes)
	s, w := New().look(c)
	patterns := slices.Clone(s.keys)
	for _, p := range s.parts {
		for _, q := range p.places {
			patterns = append(patterns, q.pattern)
			if k.rest >= 0 {
				shown = append(shown, k.rest)
			}
		}
	}
	slices.Sort(patterns)
	for _, p := range slices.Compact(patterns) {
		of := k.of(w.list[p])
		shown = append(shown, of...)
		all = all && (len(of) > 0 || k.rest >= 0)
	}
	slices.Sort(shown)
	return slices.Compact(shown), all
}
