package cause

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

const (
	nearTokens = 12   // between edits that may belong together
	together   = 0.95 // share of the edits of a shape that must be near the other shape, both ways …
	chance     = 3    // … and how much more often than by chance
	crowd      = 3    // other shapes near an edit; above this number nearness is no evidence
	apartMin   = 8    // cases in which shapes with the same neighbours everywhere must be near each other
)

// A spot is a place of a shape in a part. Its token is a distance from the start; long gaps count
// 65,536.
type spot struct{ shape, token int }

// shapeFacts is what joinNear uses of a shape.
type shapeFacts struct {
	cases, uses              int
	isValue, hasWord, varies bool // of documents; whether its neighbours vary
}

// bundles joins shapes that always occur close together into one cause. Shapes in the same cases are not
// enough: unrelated changes can be in all cases.
type bundles struct {
	shapes []shapeFacts
	parts  iter.Seq[[]spot] // the spots of each part
	tokens float64          // of all parts
	root   []int
}

// sets returns the shapes that are one cause. A set may be empty.
func (b *bundles) sets() [][]int {
	b.root = make([]int, len(b.shapes))
	for i := range b.root {
		b.root[i] = i
	}
	b.joinNear()
	sets := make([][]int, len(b.root))
	for i := range b.root {
		sets[b.rootOf(i)] = append(sets[b.rootOf(i)], i)
	}
	return sets
}

func (b *bundles) rootOf(i int) int {
	for b.root[i] != i {
		b.root[i] = b.root[b.root[i]]
		i = b.root[i]
	}
	return i
}

func (b *bundles) join(i, j int) {
	i, j = b.rootOf(i), b.rootOf(j)
	b.root[max(i, j)] = min(i, j)
}

// isRepeated reports whether a shape is frequent enough to trust nearness: it is in apartMin cases, or it is a
// value with apartMin uses per case. Otherwise the cases may be copies of one text.
func (b *bundles) isRepeated(s int) bool {
	x := &b.shapes[s]
	return x.cases >= apartMin || x.isValue && x.uses >= apartMin*x.cases
}

type pair struct{ a, b int }

// joinNear joins shapes that are always near each other.
func (b *bundles) joinNear() {
	seen := map[pair]int{} // how many edits of a have a b near
	b.eachSpot(func(s int, near []int) {
		for _, o := range near {
			seen[pair{s, o}]++
		}
	})
	parts := map[int][]int{}
	inOrder := func(x, y pair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) }
	for _, p := range slices.SortedFunc(maps.Keys(seen), inOrder) {
		x, y := &b.shapes[p.a], &b.shapes[p.b]
		byChance := float64(min(x.uses, y.uses)) * 2 * nearTokens / b.tokens
		isCopy := !x.varies && !y.varies && !(b.isRepeated(p.a) && b.isRepeated(p.b))
		switch {
		case chance*byChance > 1 || !b.areMost(seen[p], p.a):
		case b.areMost(seen[pair{p.b, p.a}], p.b):
			if !isCopy {
				b.join(p.a, p.b)
			}
		case b.isPart(p):
			parts[p.b] = append(parts[p.b], p.a)
		}
	}
	b.joinParts(parts)
}

// areMost reports whether n are nearly all edits of a shape.
func (b *bundles) areMost(n, shape int) bool {
	return float64(n) >= together*float64(b.shapes[shape].uses)
}

// isPart reports whether shape a may be a part of b, given that its edits are in records with edits of b. Both
// must be values, and a must have a word: a wrong constant may be in a record where some other number always changed.
func (b *bundles) isPart(p pair) bool {
	a, whole := &b.shapes[p.a], &b.shapes[p.b]
	return a.isValue && whole.isValue && a.hasWord && b.isRepeated(p.a)
}

// joinParts joins a shape with its parts if nearly all its edits are in a record with one of them. Example: a
// linter renames its proposal, and several messages contain the name.
func (b *bundles) joinParts(parts map[int][]int) {
	if len(parts) == 0 {
		return
	}
	covered := map[int]int{}
	b.eachSpot(func(s int, near []int) {
		if slices.ContainsFunc(near, func(o int) bool { return slices.Contains(parts[s], o) }) {
			covered[s]++
		}
	})
	for s, n := range covered {
		if b.areMost(n, s) {
			for _, o := range parts[s] {
				b.join(s, o)
			}
		}
	}
}

// eachSpot calls visit for each spot with the other shapes near it. It skips spots with more than crowd
// neighbours.
func (b *bundles) eachSpot(visit func(shape int, near []int)) {
	for list := range b.parts {
		for k := range list {
			var have [crowd + 1]int
			if n := nearShapes(have[:0], list, k); len(n) <= crowd {
				visit(list[k].shape, n)
			}
		}
	}
}

// nearShapes appends the shapes near spot k, each once, until they are a crowd.
func nearShapes(near []int, list []spot, k int) []int {
	look := func(i int) bool {
		if s := list[i]; max(s.token-list[k].token, list[k].token-s.token) > nearTokens {
			return false
		} else if s.shape != list[k].shape && !slices.Contains(near, s.shape) && len(near) <= crowd {
			near = append(near, s.shape)
		}
		return true
	}
	for i := k - 1; i >= 0 && look(i); i-- {
	}
	for i := k + 1; i < len(list) && look(i); i++ {
	}
	return near
}
