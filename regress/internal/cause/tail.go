package cause

import (
	"cmp"
	"slices"
	"strings"
)

const (
	foldAbove  = 30  // causes of edits; as many as that are shown as they are
	foldPart   = 100 // a cause is rare that has less than one in so many cases …
	familyMin  = 3   // … or than literalMin; causes that make a family
	familyMax  = 20  // families of rare causes; what is left is one more cause
	foldedName = 200 // names of causes that were folded into one, at most
)

// A likeness is what causes of a family have alike: what they do, and what always
// stands before, or behind.
type likeness struct{ does, beside, what string }

func (l likeness) String() string { return l.does + " " + l.beside + " " + l.what }

// fold gives causes their families. Where there are too many causes, the rare ones of a
// family become one, and those of none another one.
func (f *finder) fold() {
	alike := f.likenesses()
	var edits, rare []int
	least := max(literalMin, len(f.cases)/foldPart)
	for i := range f.groups {
		if f.groups[i].kind == Edit {
			edits = append(edits, i)
			if f.groups[i].cases < least {
				rare = append(rare, i)
			}
		}
	}
	families, of := choose(edits, alike, 0)
	for n, members := range of {
		for _, i := range members {
			f.groups[i].family = families[n].String()
		}
	}
	if len(edits) <= foldAbove || len(rare) < 2 {
		return
	}
	families, of = choose(rare, alike, familyMax)
	folded := map[int]bool{}
	var sets []group
	for n, members := range of {
		sets = append(sets, f.merged(members, "family "+families[n].String(), families[n].String(), families[n].String()))
		for _, i := range members {
			folded[i] = true
		}
	}
	rare = slices.DeleteFunc(rare, func(i int) bool { return folded[i] })
	if len(rare) > 1 {
		sets = append(sets, f.merged(rare, "other", "other rare edits", ""))
		for _, i := range rare {
			folded[i] = true
		}
	}
	f.replaceBy(sets, folded)
}

// merged makes one group of several.
func (f *finder) merged(of []int, text, name, family string) group {
	slices.SortFunc(of, func(x, y int) int {
		a, b := &f.groups[x], &f.groups[y]
		return cmp.Or(cmp.Compare(b.cases, a.cases), cmp.Compare(b.lines, a.lines), cmp.Compare(a.text, b.text))
	})
	g := group{kind: Other, text: text, name: name, family: family}
	for _, i := range of {
		g.shapes = append(g.shapes, f.groups[i].shapes...)
		if len(g.folded) < foldedName {
			g.folded = append(g.folded, f.groups[i].name)
		}
	}
	return g
}

// replaceBy puts groups in the place of those that were folded.
func (f *finder) replaceBy(sets []group, folded map[int]bool) {
	var kept []int
	for i := range f.groups {
		if !folded[i] {
			kept = append(kept, i)
		}
	}
	f.permute(kept)
	for _, g := range sets {
		for _, s := range g.shapes {
			f.groupOf[s] = len(f.groups)
		}
		f.groups = append(f.groups, g)
	}
	f.tally()
}

// choose makes families of those groups that have the most alike, at most max of them
// (0 for any number).
func choose(groups []int, alike [][]likeness, max int) (families []likeness, of [][]int) {
	left := map[int]bool{}
	for _, i := range groups {
		left[i] = true
	}
	for max == 0 || len(families) < max {
		count := map[likeness]int{}
		for _, i := range groups {
			if left[i] {
				for _, l := range alike[i] {
					count[l]++
				}
			}
		}
		best, most := likeness{}, familyMin-1
		for l, n := range count {
			if n > most || n == most && n >= familyMin && strings.Compare(l.String(), best.String()) < 0 {
				best, most = l, n
			}
		}
		if most < familyMin {
			break
		}
		var members []int
		for _, i := range groups {
			if left[i] && slices.Contains(alike[i], best) {
				members = append(members, i)
				delete(left, i)
			}
		}
		families, of = append(families, best), append(of, members)
	}
	return families, of
}

// likenesses returns what may make a family of each group: neighbours that are always
// the same.
func (f *finder) likenesses() [][]likeness {
	type beside struct{ before, after int32 } // words; 0 for none or several
	const unknown = -1
	around := make([]beside, len(f.groups))
	for i := range around {
		around[i] = beside{unknown, unknown}
	}
	same := func(was *int32, is int32) {
		if *was == unknown {
			*was = is
		} else if *was != is {
			*was = 0
		}
	}
	for _, s := range f.cases {
		for _, p := range s.parts {
			for i := range p.places {
				q := &p.places[i]
				f.patterns[f.at[q.pattern]].each(func(sh int) {
					b := &around[f.groupOf[sh]]
					same(&b.before, q.before)
					same(&b.after, q.after)
				})
			}
		}
	}
	out := make([][]likeness, len(f.groups))
	for i := range f.groups {
		does := f.groups[i].does(f)
		if does == "" {
			continue
		}
		if w := around[i].before; w > 0 {
			out[i] = append(out[i], likeness{does, "behind", printable(f.list[w])})
		}
		if w := around[i].after; w > 0 {
			out[i] = append(out[i], likeness{does, "before", printable(f.list[w])})
		}
	}
	return out
}

// does says in which direction a cause goes, empty for whitespace.
func (g *group) does(f *finder) string {
	p := &f.shapes[g.shapes[0]].pattern
	switch {
	case p.sort == "w+" || p.sort == "e" && len(p.old) == 0:
		return "adds"
	case p.sort == "w-" || p.sort == "e" && len(p.now) == 0:
		return "removes"
	case p.sort == "e":
		return "replaces"
	}
	return ""
}
