package cause

import (
	"slices"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// A tile is the part of an edit that an atom covers. It ends before the elements old and now.
type tile struct{ shape, old, now int }

const (
	atomsMax   = 4       // in one edit …
	atomsAlone = 8       // … and if no atom consists of others
	atomLength = 12      // elements on one side of an atom
	openMax    = 64      // atoms with slots that begin with the same element
	sameMax    = 2       // atoms that differ only in their context
	atomsWork  = 1 << 24 // elements visited for all edits together; after that, no edit is taken apart
)

// atoms are the patterns that others may consist of, in order of preference. Atoms without slots
// are in a tree, because they may be many. Those with slots are few, and are tried one by one.
type atoms struct {
	list  []pattern.Pattern
	names []int           // what parse calls each atom
	next  map[edge]int32  // edges from node to node
	ends  map[int32][]int // atoms that end at a node
	nodes int32
	begin map[pattern.Piece][]int // atoms with slots, by their first element
	open  []int                   // atoms that begin with a slot
	work  int
}

// An edge leads to the next node. An element without a kind separates the two sides.
type edge struct {
	from int32
	by   pattern.Piece
}

func newAtoms() atoms {
	return atoms{next: map[edge]int32{}, ends: map[int32][]int{}, begin: map[pattern.Piece][]int{}, work: atomsWork}
}

// addAll adds an atom. Of brackets around something it adds both halves, each by itself. It skips a
// lone bracket: beside another edit, nothing shows which bracket that is.
func (a *atoms) addAll(p pattern.Pattern, name int) {
	switch p.Sort {
	case pattern.Wrap:
		a.add(pattern.Pattern{Sort: pattern.Edit, Now: p.Old}, name)
		a.add(pattern.Pattern{Sort: pattern.Edit, Now: p.Now}, name)
	case pattern.Unwrap:
		a.add(pattern.Pattern{Sort: pattern.Edit, Old: p.Old}, name)
		a.add(pattern.Pattern{Sort: pattern.Edit, Old: p.Now}, name)
	default:
		if !pattern.IsBracket(p) {
			a.add(p, name)
		}
	}
}

// add adds an atom if the pattern is fit to be one.
func (a *atoms) add(p pattern.Pattern, name int) {
	first := p.First()
	if !p.IsEdit() || len(p.Old) > atomLength || len(p.Now) > atomLength || p.IsOpen() && !p.HasWord() || first.Kind == 0 || first.Kind == token.Length {
		return
	}
	n := len(a.list)
	switch {
	case first.IsSlot():
		if len(a.open) == openMax {
			return
		}
		a.open = append(a.open, n)
	case p.IsOpen():
		if len(p.Old) == 0 {
			first.Kind |= ofNow
		}
		if len(a.begin[first]) == openMax {
			return
		}
		a.begin[first] = append(a.begin[first], n)
	default:
		end := a.grow(a.grow(a.grow(0, p.Old), []pattern.Piece{{}}), p.Now)
		if len(a.ends[end]) == sameMax {
			return
		}
		a.ends[end] = append(a.ends[end], n)
	}
	a.list, a.names = append(a.list, p), append(a.names, name)
}

// ofNow marks the first element of an atom that is empty on the old side.
const ofNow token.Kind = 0x80

// grow adds nodes for the elements of a side, and returns the last node.
func (a *atoms) grow(node int32, side []pattern.Piece) int32 {
	for _, e := range side {
		to, known := a.next[edge{node, e}]
		if !known {
			a.nodes++
			to = a.nodes
			a.next[edge{node, e}] = to
		}
		node = to
	}
	return node
}

// A parser takes one edit apart into atoms.
type parser struct {
	*atoms
	p      *pattern.Pattern
	usable func(name int) bool
	memo   map[[2]int]int // the fewest atoms from there to the end
	step   map[[2]int]tile
}

const never = 1 << 20

// parse returns the atoms that an edit consists of, if they are at most most.
func (a *atoms) parse(p *pattern.Pattern, most int, usable func(name int) bool) ([]tile, bool) {
	if len(a.list) == 0 || !p.IsEdit() || len(p.Old)+len(p.Now) < 2 {
		return nil, false
	}
	g := parser{a, p, usable, map[[2]int]int{}, map[[2]int]tile{}}
	if cost := g.fewest(0, 0); cost > most || cost == 0 || a.work <= 0 {
		return nil, false
	}
	var tiles []tile
	for i, j := 0, 0; i < len(p.Old) || j < len(p.Now); {
		s := g.step[[2]int{i, j}]
		i, j = s.old, s.now
		switch {
		case s.shape >= 0:
			tiles = append(tiles, s)
		case len(tiles) > 0: // equal elements belong to the atom before
			tiles[len(tiles)-1].old, tiles[len(tiles)-1].now = i, j
		}
	}
	return tiles, true
}

// fewest returns the smallest number of atoms that cover the rest of the edit.
func (g *parser) fewest(i, j int) int {
	if i == len(g.p.Old) && j == len(g.p.Now) {
		return 0
	}
	at := [2]int{i, j}
	if c, known := g.memo[at]; known || g.work <= 0 {
		if !known {
			return never
		}
		return c
	}
	g.memo[at] = never
	least := never
	if i < len(g.p.Old) && j < len(g.p.Now) && g.p.Old[i] == g.p.Now[j] {
		least = g.fewest(i+1, j+1)
		g.step[at] = tile{-1, i + 1, j + 1}
	}
	for _, n := range g.candidates(i, j) {
		t := &g.list[n]
		if c := 1 + g.fewest(i+len(t.Old), j+len(t.Now)); c < least {
			least = c
			g.step[at] = tile{g.names[n], i + len(t.Old), j + len(t.Now)}
		}
	}
	g.memo[at] = least
	return least
}

// candidates returns the atoms that may come next. Atoms that remove elements of the old side come
// first, atoms that begin with a slot last.
func (g *parser) candidates(i, j int) (found []int) {
	if node := int32(0); i < len(g.p.Old) {
		for at := i; at < len(g.p.Old) && g.follow(&node, g.p.Old[at]); at++ {
			found = g.appendEnding(found, node, j)
		}
		found = g.appendOpen(found, g.begin[g.p.Old[i]], i, j)
		slices.Sort(found)
	}
	if j < len(g.p.Now) {
		from := len(found)
		found = g.appendEnding(found, 0, j)
		first := g.p.Now[j]
		first.Kind |= ofNow
		found = g.appendOpen(found, g.begin[first], i, j)
		slices.Sort(found[from:])
	}
	return g.appendOpen(found, g.open, i, j)
}

// follow goes from a node to the next by an element, if an edge leads there.
func (g *parser) follow(node *int32, by pattern.Piece) (ok bool) {
	g.work--
	*node, ok = g.next[edge{*node, by}]
	return ok
}

// appendEnding appends the atoms without slots whose old side ends at a node.
func (g *parser) appendEnding(found []int, node int32, j int) []int {
	if !g.follow(&node, pattern.Piece{}) {
		return found
	}
	for {
		for _, n := range g.ends[node] {
			if g.usable(g.names[n]) {
				found = append(found, n)
			}
		}
		if j == len(g.p.Now) || !g.follow(&node, g.p.Now[j]) {
			return found
		}
		j++
	}
}

// appendOpen appends those atoms of the list that fit.
func (g *parser) appendOpen(found, list []int, i, j int) []int {
	for _, n := range list {
		g.work--
		if g.list[n].Fits(g.p.Old[i:], g.p.Now[j:]) && g.usable(g.names[n]) {
			found = append(found, n)
		}
	}
	return found
}

// alikeMax bounds the patterns with slots that differ only in literal words. A case whose edits the analysis did
// not see is compared with each of them.
const alikeMax = 1 << 12

// openPatterns are patterns with slots, indexed by the edits that they stand for.
type openPatterns struct {
	list   []pattern.Pattern
	causes []int
	at     map[string][]int // by a pattern without its words and numbers
}

func (o *openPatterns) add(p pattern.Pattern, cause int) {
	if bare := p.Bare(); len(o.at[bare]) < alikeMax {
		o.at[bare] = append(o.at[bare], len(o.list))
		o.list, o.causes = append(o.list, p), append(o.causes, cause)
	}
}

// causesOf returns the causes of the patterns that stand for p, in the order of the patterns.
func (o *openPatterns) causesOf(p *pattern.Pattern) (found []int) {
	for _, n := range o.at[p.Bare()] {
		if pattern.IsShape(&o.list[n], p) {
			found = append(found, o.causes[n])
		}
	}
	return found
}
