package cause

import (
	"cmp"
	"slices"
)

const (
	// causesMax is how many causes there are at most, of all kinds together, whatever
	// comes: twice what is shown as it is, and about what a person reads to the end.
	causesMax = 2 * foldAbove
	// foldsMax is how many of them may consist of others, so that most are what they are.
	foldsMax = 20
)

// A foldable is what causes have alike that are folded into one above the bound: that
// somebody newly fails is never folded with what is merely another output.
type foldable struct {
	kind   Kind
	family string // empty for all of the kind
}

// bound folds the least frequent causes where there are more than causesMax: by family,
// and the smallest families by kind.
func (f *finder) bound() {
	if len(f.groups) <= causesMax {
		return
	}
	f.number()
	alike := make([]foldable, len(f.groups))
	for i := range f.groups {
		alike[i] = f.foldable(&f.groups[i])
	}
	folds, first := map[foldable][]int{}, len(f.groups)
	for first > causesMax-foldsMax && (first > causesMax || first+len(folds) > causesMax) {
		first--
		folds[alike[first]] = append(folds[alike[first]], first)
	}
	f.foldInto(byKind(folds, f.groups))
}

// foldable is that of a group.
func (f *finder) foldable(g *group) foldable {
	p := &f.shapes[g.shapes[0]].pattern
	switch g.kind {
	case Edit, Other:
		return foldable{Other, cmp.Or(g.family, g.does(f), "whitespace")}
	case Failing, Passing, Ended:
		return foldable{g.kind, printable(howEnded(p.rest))}
	}
	return foldable{g.kind, printable(whatHappened(p.rest))}
}

// byKind leaves as many sets as there may be: of the families the most frequent, and of
// what is left one of each kind.
func byKind(folds map[foldable][]int, groups []group) map[foldable][]int {
	if len(folds) <= foldsMax {
		return folds
	}
	kinds, cases := map[Kind]bool{}, map[foldable]int{}
	order := make([]foldable, 0, len(folds))
	for s, members := range folds {
		kinds[s.kind] = true
		order = append(order, s)
		for _, i := range members {
			cases[s] += groups[i].cases
		}
	}
	slices.SortFunc(order, func(x, y foldable) int {
		return cmp.Or(cmp.Compare(cases[y], cases[x]), cmp.Compare(x.kind, y.kind), cmp.Compare(x.family, y.family))
	})
	for _, s := range order[foldsMax-len(kinds):] {
		all := foldable{kind: s.kind}
		folds[all] = append(folds[all], folds[s]...)
		delete(folds, s)
	}
	return folds
}

// foldInto makes one group of each set.
func (f *finder) foldInto(folds map[foldable][]int) {
	folded := map[int]bool{}
	var sets []group
	for s, members := range folds {
		if len(members) < 2 {
			continue
		}
		for _, i := range members {
			folded[i] = true
		}
		family := cmp.Or(s.family, allOf(s.kind))
		g := f.merged(members, "bound "+string(s.kind)+" "+s.family, "other: "+family, family)
		g.kind = s.kind
		sets = append(sets, g)
	}
	f.replaceBy(sets, folded)
}

// allOf names what is left of a kind.
func allOf(k Kind) string {
	switch k {
	case Failing:
		return "newly failing"
	case Passing:
		return "newly passing"
	case Ended:
		return "ends otherwise"
	case Binary:
		return "contents that are no text"
	case File:
		return "files"
	}
	return "edits"
}
