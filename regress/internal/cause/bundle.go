package cause

import (
	"cmp"
	"slices"
)

const (
	nearTokens = 12   // between edits that may belong together
	together   = 0.95 // share of the edits of a shape that must be near the other shape, both ways …
	chance     = 3    // … and how much more often than by chance
	crowd      = 3    // other shapes near an edit; above this number nearness is no evidence
	alike      = 0.93 // share of common cases that rigid shapes must have
	rigidMax   = 300  // shapes that are compared with each other
)

// bundleShapes returns sets of shapes that are one cause: they always occur close to each other, or
// equally often and always at the same distance. Occurring in the same cases is no evidence,
// because unrelated changes can be in all cases.
func (f *finder) bundleShapes(uses []int) [][]int {
	b := bundles{finder: f, uses: uses, root: make([]int, len(f.shapes)), crowded: make([]int, len(f.shapes))}
	for i := range b.root {
		b.root[i] = i
	}
	b.findVaried()
	b.joinNear()
	b.joinRigid()
	sets := map[int][]int{}
	for i := range b.root {
		r := b.rootOf(i)
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
	// varied marks shapes with different neighbours. The other shapes may be in copies of one text,
	// where all changes are always near each other.
	varied []bool
	// crowded counts the edits of each shape that are in a crowd.
	crowded []int
}

func (b *bundles) isCrowded(shape int) bool { return 2*b.crowded[shape] > b.uses[shape] }

// findVaried sets varied.
func (b *bundles) findVaried() {
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

// A spot is a place of a shape in a part. Its token is a distance from the start; long gaps count
// 65,536.
type spot struct{ shape, token, line int }

// spots lists the edits of a part whose shape can be bundled.
func (b *bundles) spots(list []spot, p *partRecord) []spot {
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
			if b.isFit(s) {
				list = append(list, spot{s, token, int(q.line)})
			}
		})
	}
	return list
}

// isFit reports whether a shape occurs often enough to judge it, and is not whitespace.
func (b *bundles) isFit(s int) bool {
	return b.shapes[s].cases >= literalMin && b.shapes[s].sort.isOfTokens()
}

type pair struct{ a, b int }

// joinNear joins shapes that are always near each other.
func (b *bundles) joinNear() {
	seen := map[pair][2]int{} // how many of a have a b near, and vice versa
	var list []spot
	bytes := 0
	for _, s := range b.cases {
		bytes += int(s.total)
		for i := range s.parts {
			list = b.spots(list, &s.parts[i])
			for k := range list {
				b.countNear(seen, list, k)
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

// countNear counts the shapes near spot k, each once, unless they are a crowd.
func (b *bundles) countNear(seen map[pair][2]int, list []spot, k int) {
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

// joinRigid joins shapes that occur equally often in the same cases, always at the same distance in
// lines.
func (b *bundles) joinRigid() {
	where := make([]map[int][]int, len(b.shapes)) // the lines of each shape, by case
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
			if b.rootOf(x) != b.rootOf(y) && areRigid(where[x], where[y]) {
				b.join(x, y)
			}
		}
	}
}

// rigidMin is the number of cases in which two shapes must keep their distance. In fewer cases they
// may do so by chance.
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
