package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/regress/internal/cause/edit"
	"muster/regress/internal/cause/pattern"
)

// A group is a cause under construction.
type group struct {
	shapes       []int
	text         string // the source of its signature
	name, family string
	kind         Kind
	elsewhere    bool // its family makes the same change at other places
	cases, uses  int
	lines        int
	patterns     []string
	joined       []string // names of the changes that it stands for
	folded       []string // names of the causes folded into it
	foldedCount  int      // the number of those causes; 0 for a single cause
}

// makeGroups makes groups of shapes. A shape is alone, or with those that always accompany it. If
// groups are too many, similar ones are folded.
func (f *finder) makeGroups() {
	uses := make([]int, len(f.shapes))
	f.each(func(_ int, k int32) { f.patterns[f.at[k]].each(func(s int) { uses[s]++ }) })
	sets := newBundles(f, uses).sets()
	f.rewritten = f.isRewritten()
	if f.rewritten {
		sets = f.joinEdits()
	}
	f.groupOf = slices.Repeat([]int{-1}, len(f.shapes))
	for _, set := range sets {
		f.makeGroup(set, uses)
	}
	f.tally()
	f.foldEdits()
	f.foldExcess()
	f.sortGroups()
	groupByCases(f)
	f.collectPatterns()
	listContents(f)
}

// newBundles returns the shapes to bundle, and where they are. Shapes of whitespace and rare shapes have no spots.
func newBundles(f *finder, uses []int) *bundles {
	b := &bundles{shapes: make([]shapeFacts, len(f.shapes)), tokens: 1}
	around := shapeNeighbours(f)
	for i := range f.shapes {
		s := &f.shapes[i]
		b.shapes[i] = shapeFacts{s.cases, uses[i], s.Sort == pattern.Value, s.HasWord(), around[i].vary}
	}
	for _, s := range f.cases {
		b.tokens += float64(s.total / 4)
	}
	b.parts = func(yield func([]spot) bool) {
		var list []spot
		for _, s := range f.cases {
			for i := range s.parts {
				if list = f.spots(list[:0], &s.parts[i]); !yield(list) {
					return
				}
			}
		}
	}
	return b
}

// spots appends the spots of a part.
func (f *finder) spots(list []spot, p *partRecord) []spot {
	token := 0
	for i := range p.Places {
		q := &p.Places[i]
		if q.Gap == edit.Far {
			token += 1 << 16
		} else {
			token += int(q.Gap)
		}
		f.patterns[f.at[q.Pattern]].each(func(s int) {
			if x := &f.shapes[s]; x.cases >= literalMin && x.Sort.IsOfTokens() {
				list = append(list, spot{s, token})
			}
		})
	}
	return list
}

// makeGroup makes one group of those shapes of a set that occur.
func (f *finder) makeGroup(set, uses []int) {
	set = slices.DeleteFunc(set, func(s int) bool { return uses[s] == 0 })
	if len(set) == 0 {
		return
	}
	slices.SortFunc(set, func(x, y int) int {
		a, b := &f.shapes[x], &f.shapes[y]
		return cmp.Or(cmp.Compare(b.cases, a.cases), cmp.Compare(uses[y], uses[x]), cmp.Compare(a.text, b.text))
	})
	first := &f.shapes[set[0]]
	g := group{shapes: set, text: first.text, name: pattern.NameOf(&first.Pattern), kind: kindOf(first.Sort)}
	if f.rewritten && g.kind == Edit {
		g.kind, g.text, g.name = Rewritten, "rewritten", "rewritten: more than half of what the cases give"
	} else {
		for _, s := range set[1:min(len(set), 3)] {
			g.name += ", " + pattern.NameOf(&f.shapes[s].Pattern)
		}
		if len(set) > 3 {
			g.name += ", …"
		}
	}
	for _, s := range set {
		f.groupOf[s] = len(f.groups)
	}
	f.groups = append(f.groups, g)
}

func kindOf(s pattern.Sort) Kind {
	switch s {
	case pattern.Fails:
		return Failing
	case pattern.Passes:
		return Passing
	case pattern.Ends:
		return Ended
	case pattern.File:
		return File
	case pattern.Binary:
		return Binary
	}
	return Edit
}

const (
	rewrittenShapes = 40 // there must be more shapes than this
	rewrittenPart   = 2  // and more than one in this number of bytes must have changed
)

// isRewritten reports whether too much changed to separate causes.
func (f *finder) isRewritten() bool {
	n := 0
	for i := range f.shapes {
		if f.shapes[i].cases > 0 && kindOf(f.shapes[i].Sort) == Edit {
			n++
		}
	}
	return f.skipsEdits || n > rewrittenShapes && f.mostChanged()
}

// mostChanged reports whether more than half of the cases' output is in edits.
func (f *finder) mostChanged() bool {
	var changed, total int64
	for _, s := range f.cases {
		changed, total = changed+s.changed, total+s.total
	}
	return changed > total/rewrittenPart
}

// joinEdits returns one set with all edits, and a set for each other shape.
func (f *finder) joinEdits() (sets [][]int) {
	var edits []int
	for i := range f.shapes {
		if kindOf(f.shapes[i].Sort) == Edit {
			edits = append(edits, i)
		} else {
			sets = append(sets, []int{i})
		}
	}
	return append(sets, edits)
}

// tally counts the cases, uses and changed lines of the groups.
func (f *finder) tally() {
	type mark struct{ c, part, line int }
	last := make([]mark, len(f.groups))
	for i := range f.groups {
		f.groups[i].cases, f.groups[i].uses, f.groups[i].lines = 0, 0, 0
	}
	see := func(g, c, part int, line, lines int32) {
		m := &last[g]
		if m.c != c+1 {
			f.groups[g].cases++
			*m = mark{c + 1, 0, -1}
		}
		f.groups[g].uses++
		if m.part != part || m.line != int(line) {
			f.groups[g].lines += int(lines)
			m.part, m.line = part, int(line+lines)-1
		}
	}
	for c, s := range f.cases {
		for _, k := range s.keys {
			see(f.groupOf[f.patterns[f.at[k]].shape], c, 0, 0, 0)
		}
		for n, p := range s.parts {
			for i := range p.Places {
				q := &p.Places[i]
				f.patterns[f.at[q.Pattern]].each(func(sh int) { see(f.groupOf[sh], c, n+1, q.Line, q.Lines) })
			}
		}
	}
}

// sortGroups brings the groups into their final order.
func (f *finder) sortGroups() {
	order := make([]int, len(f.groups))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int {
		a, b := &f.groups[x], &f.groups[y]
		return cmp.Or(cmp.Compare(b.cases, a.cases), cmp.Compare(b.lines, a.lines), cmp.Compare(pattern.DigestOf(a.text), pattern.DigestOf(b.text)))
	})
	f.permute(order)
}

// permute keeps the groups that order lists, in its order.
func (f *finder) permute(order []int) {
	groups, to := make([]group, len(order)), make([]int, len(f.groups))
	for i, old := range order {
		groups[i], to[old] = f.groups[old], i
	}
	f.groups = groups
	for s, g := range f.groupOf {
		if g >= 0 {
			f.groupOf[s] = to[g]
		}
	}
}

// collectPatterns gives the groups the patterns that later edits are compared with.
func (f *finder) collectPatterns() {
	for i := range f.groups {
		g := &f.groups[i]
		if g.kind == Rewritten {
			g.patterns = []string{anyEdit}
			continue
		}
		for _, s := range g.shapes {
			t := &f.shapes[s]
			if t.IsOpen() && t.HasWord() && t.Sort != pattern.Move {
				g.patterns = append(g.patterns, pattern.EscapeKey(t.text))
				if !strings.Contains(t.In, anyKey) {
					continue
				}
			}
			if t.Sort == pattern.Space || strings.Contains(t.In, anyKey) {
				g.patterns = append(g.patterns, pattern.ExactKey(t.text))
			}
			for _, m := range t.members {
				if f.patterns[m].tiles == nil {
					g.patterns = append(g.patterns, pattern.ExactKey(f.patterns[m].key))
				}
			}
		}
	}
	for i := range f.patterns {
		for _, t := range f.patterns[i].tiles {
			g := &f.groups[f.groupOf[t.shape]]
			if g.kind != Rewritten {
				g.patterns = append(g.patterns, pattern.ExactKey(f.patterns[i].key))
			}
		}
	}
	for i := range f.groups {
		slices.Sort(f.groups[i].patterns)
		f.groups[i].patterns = slices.Compact(f.groups[i].patterns)
	}
}

// listContents gives the groups the names of the edits that they stand for, if those differ. Of many it
// keeps the most frequent and the rarest ones: the odd one out must be seen.
func listContents(f *finder) {
	for i := range f.groups {
		g := &f.groups[i]
		if g.kind != Edit || g.foldedCount > 0 {
			continue
		}
		var all []*usedPattern
		for _, s := range g.shapes {
			for _, m := range f.shapes[s].members {
				if p := &f.patterns[m]; p.uses > 0 && p.tiles == nil {
					all = append(all, p)
				}
			}
		}
		slices.SortFunc(all, func(x, y *usedPattern) int { return cmp.Or(cmp.Compare(y.uses, x.uses), cmp.Compare(x.key, y.key)) })
		between := max(0, len(all)-foldedName)
		uses := map[string]int{}
		var names []string
		list := func(part []*usedPattern) {
			for _, p := range part {
				n := pattern.Describe(&p.Pattern)
				if uses[n] == 0 {
					names = append(names, n)
				}
				uses[n] += p.uses
			}
		}
		list(all[:(len(all)-between)/2])
		list(all[(len(all)+between)/2:])
		if len(names) < 2 {
			continue
		}
		slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(uses[y], uses[x]) })
		for k, n := range names {
			if between > 0 && k == len(names)/2 {
				g.joined = append(g.joined, fmt.Sprintf("… %d more", between))
			}
			g.joined = append(g.joined, fmt.Sprintf("%s (%d)", n, uses[n]))
		}
	}
}
