package cause

// A tile is a part of an edit that an atom stands for: up to which element of each side.
type tile struct{ shape, old, now int }

const (
	atomsMax   = 4  // in one edit
	atomLength = 12 // elements of a side of one
	openMax    = 64 // atoms that begin with a slot
)

// matches reports whether the elements begin with those of a side, its slots filled as
// they are already.
func matches(side, es []piece, slots []piece) ([]piece, bool) {
	if len(side) > len(es) {
		return slots, false
	}
	for i, s := range side {
		if s.kind != slot && s.kind != digits {
			if s != es[i] {
				return slots, false
			}
			continue
		}
		if (s.kind == slot) != (es[i].kind == word) || (s.kind == digits) != (es[i].kind == number) {
			return slots, false
		}
		n := int(s.text[0] - '0')
		if len(s.text) > 1 {
			n = 10*n + int(s.text[1]-'0')
		}
		for len(slots) < n {
			slots = append(slots, piece{})
		}
		if slots[n-1].kind == 0 {
			slots[n-1] = es[i]
		} else if slots[n-1] != es[i] {
			return slots, false
		}
	}
	return slots, true
}

// isShape reports whether a pattern is one of a shape.
func isShape(t, p *pattern) bool {
	if t.sort != p.sort || t.in != p.in || len(t.old) != len(p.old) || len(t.now) != len(p.now) {
		return false
	}
	slots, ok := matches(t.old, p.old, nil)
	if !ok {
		return false
	}
	_, ok = matches(t.now, p.now, slots)
	return ok
}

// atoms are patterns by what they begin with.
type atoms struct {
	list  []pattern
	names []int // what parse is to call each
	by    map[piece][]int
	open  []int
}

// addAll takes an atom in; of brackets around something both halves, each by itself.
func (a *atoms) addAll(p pattern, name int) {
	switch p.sort {
	case "w+":
		a.add(pattern{sort: "e", now: p.old}, name)
		a.add(pattern{sort: "e", now: p.now}, name)
	case "w-":
		a.add(pattern{sort: "e", old: p.old}, name)
		a.add(pattern{sort: "e", old: p.now}, name)
	default:
		a.add(p, name)
	}
}

// add takes an atom in, if it is fit to be one.
func (a *atoms) add(p pattern, name int) {
	if !p.isEdit() || len(p.old) > atomLength || len(p.now) > atomLength || p.isOpen() && !p.hasWord() {
		return
	}
	first := piece{kind: '+'}
	if len(p.old) > 0 {
		first = p.old[0]
	} else if len(p.now) > 0 {
		first = p.now[0]
		first.kind |= 0x80 // of the new side
	}
	if a.by == nil {
		a.by = map[piece][]int{}
	}
	n := len(a.list)
	switch k := first.kind &^ 0x80; {
	case k == length || k == '+':
		return
	case k == slot || k == digits:
		if len(a.open) == openMax {
			return
		}
		a.open = append(a.open, n)
	default:
		a.by[first] = append(a.by[first], n)
	}
	a.list, a.names = append(a.list, p), append(a.names, name)
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

// parse tells of which atoms an edit consists, if of at most atomsMax.
func (a *atoms) parse(p *pattern, usable func(name int) bool) ([]tile, bool) {
	if len(a.list) == 0 || !p.isEdit() || len(p.old)+len(p.now) < 2 || len(p.old) > elementsMax || len(p.now) > elementsMax {
		return nil, false
	}
	g := parsing{a, p, usable, map[[2]int]int{}, map[[2]int]tile{}}
	if cost := g.best(0, 0); cost > atomsMax || cost == 0 {
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
	if c, known := g.memo[at]; known {
		return c
	}
	g.memo[at] = never
	least := never
	if i < len(g.p.old) && j < len(g.p.now) && g.p.old[i] == g.p.now[j] {
		least = g.best(i+1, j+1)
		g.step[at] = tile{-1, i + 1, j + 1}
	}
	try := func(list []int) {
		for _, n := range list {
			t := &g.list[n]
			slots, ok := matches(t.old, g.p.old[i:], nil)
			if !ok {
				continue
			}
			if _, ok = matches(t.now, g.p.now[j:], slots); !ok || !g.usable(g.names[n]) {
				continue
			}
			if c := 1 + g.best(i+len(t.old), j+len(t.now)); c < least {
				least = c
				g.step[at] = tile{g.names[n], i + len(t.old), j + len(t.now)}
			}
		}
	}
	if i < len(g.p.old) {
		try(g.by[g.p.old[i]])
	}
	if j < len(g.p.now) {
		first := g.p.now[j]
		first.kind |= 0x80
		try(g.by[first])
	}
	try(g.open)
	g.memo[at] = least
	return least
}
