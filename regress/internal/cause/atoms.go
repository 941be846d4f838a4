package cause

import "slices"

// A tile is a part of an edit that an atom stands for: up to which element of each side.
type tile struct{ shape, old, now int }

const (
	atomsMax   = 4       // in one edit …
	atomsAlone = 8       // … and where none of them consists of others
	atomLength = 12      // elements of a side of one
	openMax    = 64      // atoms with slots that begin alike
	sameMax    = 2       // atoms that are alike but for where they stand
	atomsWork  = 1 << 24 // elements that are looked at for all edits together; then none is taken apart
)

// atoms are patterns that others may consist of, the first first. Those without slots are
// in a tree, for there may be many; of those with slots few are looked at.
type atoms struct {
	list  []pattern
	names []int           // what parse is to call each
	next  map[edge]int32  // from a node by an element to a node
	ends  map[int32][]int // atoms that end at a node
	nodes int32
	begin map[piece][]int // atoms with slots, by what they begin with
	open  []int           // those that begin with a slot
	work  int
}

// An edge leads from a node on. The element between the sides is one of no kind.
type edge struct {
	from int32
	by   piece
}

func newAtoms() atoms {
	return atoms{next: map[edge]int32{}, ends: map[int32][]int{}, begin: map[piece][]int{}, work: atomsWork}
}

// addAll takes an atom in; of brackets around something both halves, each by itself. A lone
// bracket is none: what it is beside of another edit does not tell which it is.
func (a *atoms) addAll(p pattern, name int) {
	switch p.sort {
	case sortWrap:
		a.add(pattern{sort: sortEdit, now: p.old}, name)
		a.add(pattern{sort: sortEdit, now: p.now}, name)
	case sortUnwrap:
		a.add(pattern{sort: sortEdit, old: p.old}, name)
		a.add(pattern{sort: sortEdit, old: p.now}, name)
	default:
		if !isBracket(&p) {
			a.add(p, name)
		}
	}
}

// add takes an atom in, if it is fit to be one.
func (a *atoms) add(p pattern, name int) {
	first := p.first()
	if !p.isEdit() || len(p.old) > atomLength || len(p.now) > atomLength || p.isOpen() && !p.hasWord() || first.kind == 0 || first.kind == length {
		return
	}
	n := len(a.list)
	switch {
	case first.kind == slot || first.kind == digits:
		if len(a.open) == openMax {
			return
		}
		a.open = append(a.open, n)
	case p.isOpen():
		if len(p.old) == 0 {
			first.kind |= ofNow
		}
		if len(a.begin[first]) == openMax {
			return
		}
		a.begin[first] = append(a.begin[first], n)
	default:
		end := a.grow(a.grow(a.grow(0, p.old), []piece{{}}), p.now)
		if len(a.ends[end]) == sameMax {
			return
		}
		a.ends[end] = append(a.ends[end], n)
	}
	a.list, a.names = append(a.list, p), append(a.names, name)
}

// first is what a pattern begins with, of no kind if it is empty.
func (p *pattern) first() piece {
	if len(p.old) > 0 {
		return p.old[0]
	}
	if len(p.now) > 0 {
		return p.now[0]
	}
	return piece{}
}

// ofNow marks what an atom begins with that has nothing on the old side.
const ofNow kind = 0x80

// grow adds nodes for the elements of a side, and returns the last.
func (a *atoms) grow(node int32, side []piece) int32 {
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

// parsing is one edit on its way through the atoms.
type parsing struct {
	*atoms
	p      *pattern
	usable func(name int) bool
	memo   map[[2]int]int // the fewest atoms from there on, plus one
	step   map[[2]int]tile
}

const never = 1 << 20

// parse tells of which atoms an edit consists, if of at most so many.
func (a *atoms) parse(p *pattern, most int, usable func(name int) bool) ([]tile, bool) {
	if len(a.list) == 0 || !p.isEdit() || len(p.old)+len(p.now) < 2 || len(p.old) > elementsMax || len(p.now) > elementsMax {
		return nil, false
	}
	g := parsing{a, p, usable, map[[2]int]int{}, map[[2]int]tile{}}
	if cost := g.best(0, 0); cost > most || cost == 0 || a.work <= 0 {
		return nil, false
	}
	var tiles []tile
	for i, j := 0, 0; i < len(p.old) || j < len(p.now); {
		s := g.step[[2]int{i, j}]
		i, j = s.old, s.now
		switch {
		case s.shape >= 0:
			tiles = append(tiles, s)
		case len(tiles) > 0: // what is equal goes with the atom before
			tiles[len(tiles)-1].old, tiles[len(tiles)-1].now = i, j
		}
	}
	return tiles, true
}

// best returns the fewest atoms for what is left.
func (g *parsing) best(i, j int) int {
	if i == len(g.p.old) && j == len(g.p.now) {
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
	if i < len(g.p.old) && j < len(g.p.now) && g.p.old[i] == g.p.now[j] {
		least = g.best(i+1, j+1)
		g.step[at] = tile{-1, i + 1, j + 1}
	}
	for _, n := range g.fitting(i, j) {
		t := &g.list[n]
		if c := 1 + g.best(i+len(t.old), j+len(t.now)); c < least {
			least = c
			g.step[at] = tile{g.names[n], i + len(t.old), j + len(t.now)}
		}
	}
	g.memo[at] = least
	return least
}

// fitting returns the atoms that the edit may go on with, those first that take something
// of its old side away, and those last that begin with a slot.
func (g *parsing) fitting(i, j int) (found []int) {
	if node := int32(0); i < len(g.p.old) {
		for at := i; at < len(g.p.old) && g.walk(&node, g.p.old[at]); at++ {
			found = g.ending(found, node, j)
		}
		found = g.withSlots(found, g.begin[g.p.old[i]], i, j)
		slices.Sort(found)
	}
	if j < len(g.p.now) {
		from := len(found)
		found = g.ending(found, 0, j)
		first := g.p.now[j]
		first.kind |= ofNow
		found = g.withSlots(found, g.begin[first], i, j)
		slices.Sort(found[from:])
	}
	return g.withSlots(found, g.open, i, j)
}

// walk goes on by an element, if there is a way.
func (g *parsing) walk(node *int32, by piece) (ok bool) {
	g.work--
	*node, ok = g.next[edge{*node, by}]
	return ok
}

// ending appends the atoms without slots of which a node ends the old side.
func (g *parsing) ending(found []int, node int32, j int) []int {
	if !g.walk(&node, piece{}) {
		return found
	}
	for {
		for _, n := range g.ends[node] {
			if g.usable(g.names[n]) {
				found = append(found, n)
			}
		}
		if j == len(g.p.now) || !g.walk(&node, g.p.now[j]) {
			return found
		}
		j++
	}
}

// withSlots appends those of the atoms that fit.
func (g *parsing) withSlots(found, list []int, i, j int) []int {
	for _, n := range list {
		g.work--
		t := &g.list[n]
		slots, ok := matches(t.old, g.p.old[i:], nil)
		if !ok {
			continue
		}
		if _, ok = matches(t.now, g.p.now[j:], slots); ok && g.usable(g.names[n]) {
			found = append(found, n)
		}
	}
	return found
}
