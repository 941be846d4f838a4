package cause

import (
	"cmp"
	"slices"
)

const (
	// causesMax bounds the number of causes of all kinds together. It is twice the number that is
	// shown unfolded, about what a person reads to the end.
	causesMax = 2 * foldAbove
	// foldsMax bounds how many of them consist of folded causes, so that most stay single.
	foldsMax = 20
)

// A foldKey is what causes share that are folded into one above the bound. Because it has the kind,
// new failures are never folded with mere differences of output.
type foldKey struct {
	kind   Kind
	family string // empty for all of the kind
}

// foldExcess folds the least frequent causes if there are more than causesMax. It folds them by
// family, and the smallest families by kind.
func (f *finder) foldExcess() {
	if len(f.groups) <= causesMax {
		return
	}
	f.sortGroups()
	alike := make([]foldKey, len(f.groups))
	for i := range f.groups {
		alike[i] = f.foldKeyOf(&f.groups[i])
	}
	folds, first := map[foldKey][]int{}, len(f.groups)
	for first > causesMax-foldsMax && (first > causesMax || first+len(folds) > causesMax) {
		first--
		folds[alike[first]] = append(folds[alike[first]], first)
	}
	f.foldInto(mergeByKind(folds, f.groups))
}

// foldKeyOf returns the fold key of a group.
func (f *finder) foldKeyOf(g *group) foldKey {
	p := &f.shapes[g.shapes[0]].pattern
	switch g.kind {
	case Edit, Other:
		return foldKey{Other, cmp.Or(g.family, g.direction(f), "whitespace")}
	case Failing, Passing, Ended:
		return foldKey{g.kind, printable(howEnded(p.rest))}
	}
	return foldKey{g.kind, printable(whatHappened(p.rest))}
}

// mergeByKind reduces the sets to foldsMax. It keeps the most frequent families, and merges the
// others of each kind into one set.
func mergeByKind(folds map[foldKey][]int, groups []group) map[foldKey][]int {
	if len(folds) <= foldsMax {
		return folds
	}
	kinds, cases := map[Kind]bool{}, map[foldKey]int{}
	order := make([]foldKey, 0, len(folds))
	for s, members := range folds {
		kinds[s.kind] = true
		order = append(order, s)
		for _, i := range members {
			cases[s] += groups[i].cases
		}
	}
	slices.SortFunc(order, func(x, y foldKey) int {
		return cmp.Or(cmp.Compare(cases[y], cases[x]), cmp.Compare(x.kind, y.kind), cmp.Compare(x.family, y.family))
	})
	for _, s := range order[foldsMax-len(kinds):] {
		all := foldKey{kind: s.kind}
		folds[all] = append(folds[all], folds[s]...)
		delete(folds, s)
	}
	return folds
}

// foldInto makes one group of each set.
func (f *finder) foldInto(folds map[foldKey][]int) {
	folded := map[int]bool{}
	var sets []group
	for s, members := range folds {
		if len(members) < 2 {
			continue
		}
		for _, i := range members {
			folded[i] = true
		}
		family := cmp.Or(s.family, kindName(s.kind))
		g := f.mergeGroups(members, "bound "+string(s.kind)+" "+s.family, "other: "+family, family)
		g.kind = s.kind
		sets = append(sets, g)
	}
	f.replaceGroups(sets, folded)
}

// kindName names the set of all remaining causes of a kind.
func kindName(k Kind) string {
	switch k {
	case Failing:
		return "newly failing"
	case Passing:
		return "newly passing"
	case Ended:
		return "ends otherwise"
	case Binary:
		return "contents that are not text"
	case File:
		return "files"
	}
	return "edits"
}
