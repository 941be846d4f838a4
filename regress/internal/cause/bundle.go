package cause

import (
	"cmp"
	"slices"
)

const (
	nearTokens = 12   // between edits that may belong together
	together   = 0.95 // of the edits of a shape that must have one of the other near, both ways …
	chance     = 3    // … and so many times as often as by chance
	crowd      = 3    // other shapes near an edit; where there are more, to be near says nothing
	alike      = 0.93 // of the cases of two shapes that must be the same, for rigid ones
	rigidMax   = 300  // shapes that are compared with each other
)

// bundle returns sets of shapes that are one cause: that always occur close to each
// other, or as often and always as far from each other. That they are in the same cases
// is no evidence: changes that have nothing to do with each other can be in all.
func (f *finder) bundle(uses []int) [][]int {
	b := bundles{finder: f, uses: uses, root: make([]int, len(f.shapes)), crowded: make([]int, len(f.shapes))}
	for i := range b.root {
		b.root[i] = i
	}
	b.vary()
	b.near()
	b.rigid()
	sets := map[int][]int{}
	for i := range b.root {
		r := b.find(i)
		sets[r] = append(sets[r], i)
	}
	out := make([][]int, 0, len(sets))
	for i := range b.root {
		if set, first := sets[i]; first {
			out = append(out, set)
		}
	}
	return out
}

type bundles struct {
	*finder
	uses []int
	root []int
	// Shapes that stand beside different things: those that do not may be in copies of
	// one text, where whatever changed is always near.
	varied []bool
	// How many edits of each shape are in a crowd.
	crowded []int
}

func (b *bundles) isCrowded(shape int) bool { return 2*b.crowded[shape] > b.uses[shape] }

// vary finds which are.
func (b *bundles) vary() {
	first := make([]*place, len(b.shapes))
	b.varied = make([]bool, len(b.shapes))
	for _, s := range b.cases {
		for _, p := range s.parts {
			for i := range p.places {
				q := &p.places[i]
				b.patterns[b.at[q.pattern]].each(func(s int) {
					if first[s] == nil {
						first[s] = q
					}
					b.varied[s] = b.varied[s] || first[s].before != q.before || first[s].after != q.after
				})
			}
		}
	}
}

func (b *bundles) find(i int) int {
	for b.root[i] != i {
		b.root[i] = b.root[b.root[i]]
		i = b.root[i]
	}
	return i
}

func (b *bundles) join(i, j int) {
	i, j = b.find(i), b.find(j)
	b.root[max(i, j)] = min(i, j)
}

// A spot is where a shape occurs in a part: how many tokens in, as far as this is known.
type spot struct{ shape, token, line int }

// spots lists the edits of a part that have a shape fit to be bundled.
func (b *bundles) spots(list []spot, p *seenPart) []spot {
	list = list[:0]
	token := 0
	for i := range p.places {
		q := &p.places[i]
		if q.gap == far {
			token += 1 << 16
		} else {
			token += int(q.gap)
		}
		b.patterns[b.at[q.pattern]].each(func(s int) {
			if b.fit(s) {
				list = append(list, spot{s, token, int(q.line)})
			}
		})
	}
	return list
}

// fit reports whether a shape occurs often enough to tell, and is no whitespace.
func (b *bundles) fit(s int) bool {
	return b.shapes[s].cases >= literalMin && b.shapes[s].sort.isOfTokens()
}

type pair struct{ a, b int }

// near joins what is always near.
func (b *bundles) near() {
	seen := map[pair][2]int{} // how many of a have a b near, and of b an a
	var list []spot
	bytes := 0
	for _, s := range b.cases {
		bytes += int(s.total)
		for i := range s.parts {
			list = b.spots(list, &s.parts[i])
			for k := range list {
				b.around(seen, list, k)
			}
		}
	}
	tokens := float64(bytes/4 + 1)
	for _, p := range sortedPairs(seen) {
		n := seen[p]
		ua, ub := float64(b.uses[p.a]), float64(b.uses[p.b])
		if min(b.shapes[p.a].cases, b.shapes[p.b].cases) < rigidMin && !b.varied[p.a] && !b.varied[p.b] {
			continue
		}
		byChance := min(ua, ub) * 2 * nearTokens / tokens
		if float64(n[0]) >= together*ua && float64(n[1]) >= together*ub && chance*byChance <= 1 {
			b.join(p.a, p.b)
		}
	}
}

// around counts the shapes that spot k has near, each once, if they are no crowd.
func (b *bundles) around(seen map[pair][2]int, list []spot, k int) {
	var have [crowd + 1]int
	n := 0
	look := func(i int) bool {
		if s := list[i]; abs(s.token-list[k].token) > nearTokens {
			return false
		} else if s.shape != list[k].shape && !slices.Contains(have[:n], s.shape) && n < len(have) {
			have[n] = s.shape
			n++
		}
		return true
	}
	for i := k - 1; i >= 0 && look(i); i-- {
	}
	for i := k + 1; i < len(list) && look(i); i++ {
	}
	if n > crowd {
		b.crowded[list[k].shape]++
		return
	}
	for _, s := range have[:n] {
		p, side := pair{list[k].shape, s}, 0
		if p.a > p.b {
			p, side = pair{s, list[k].shape}, 1
		}
		count := seen[p]
		count[side]++
		seen[p] = count
	}
}

func abs(n int) int { return max(n, -n) }

func sortedPairs[V any](m map[pair]V) []pair {
	list := make([]pair, 0, len(m))
	for p := range m {
		list = append(list, p)
	}
	slices.SortFunc(list, func(x, y pair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return list
}

// rigid joins what occurs as often in the same cases, always as many lines apart.
func (b *bundles) rigid() {
	where := make([]map[int][]int, len(b.shapes)) // of shapes the lines by case
	var list []spot
	for c, s := range b.cases {
		for i := range s.parts {
			list = b.spots(list, &s.parts[i])
			for _, at := range list {
				if where[at.shape] == nil {
					where[at.shape] = map[int][]int{}
				}
				where[at.shape][c] = append(where[at.shape][c], at.line+i<<32)
			}
		}
	}
	var often []int
	for i := range b.shapes {
		if len(where[i]) > 0 && !b.isCrowded(i) {
			often = append(often, i)
		}
	}
	slices.SortStableFunc(often, func(x, y int) int { return cmp.Compare(b.shapes[y].cases, b.shapes[x].cases) })
	often = often[:min(len(often), rigidMax)]
	for i, x := range often {
		for _, y := range often[i+1:] {
			if float64(len(where[y])) < alike*float64(len(where[x])) {
				break
			}
			if b.find(x) != b.find(y) && areRigid(where[x], where[y]) {
				b.join(x, y)
			}
		}
	}
}

// rigidMin is in how many cases two shapes must keep their distance: in few, by chance
// they may.
const rigidMin = 8

func areRigid(x, y map[int][]int) bool {
	both, distance, known := 0, 0, false
	for c, a := range x {
		b, ok := y[c]
		if !ok {
			continue
		}
		both++
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if d := b[i] - a[i]; !known {
				distance, known = d, true
			} else if d != distance {
				return false
			}
		}
	}
	return both >= rigidMin && float64(both) >= alike*float64(len(x)+len(y)-both)
}
