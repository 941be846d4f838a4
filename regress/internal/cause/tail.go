package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	foldAbove     = 25  // causes of edits; as many as that are shown as they are
	foldPart      = 100 // a cause is rare that has less than one in so many cases, or than literalMin
	elsewherePart = 20  // the same for one that has others like it in other places
	familyMin     = 3   // causes that make a family
	familyMax     = 20  // families of that kind; what is left has what it does in common
	foldedName    = 200 // names of causes that were folded into one, at most
)

// A likeness is what causes of a family have alike: what they do, and what always
// stands before, or behind.
type likeness struct{ does, beside, what string }

func (l likeness) String() string { return l.does + " " + l.beside + " " + l.what }

// fold gives causes their families. Where there are too many causes, each has one, and
// the rare ones of a family become one cause.
func (f *finder) fold() {
	var edits []int
	for i := range f.groups {
		if f.groups[i].kind == Edit {
			edits = append(edits, i)
		}
	}
	f.basic(edits)
	left := slices.DeleteFunc(slices.Clone(edits), func(i int) bool { return f.groups[i].family != "" })
	families, of := choose(left, f.likenesses(), familyMax)
	for n, members := range of {
		for _, i := range members {
			f.groups[i].family = families[n].String()
		}
	}
	if len(edits) > foldAbove {
		f.foldRare(edits)
	}
}

// basic makes a family of what does the same and differs by where it stands.
func (f *finder) basic(edits []int) {
	by := map[string][]int{}
	for _, i := range edits {
		if p := &f.shapes[f.groups[i].shapes[0]].pattern; saysLittle(p) {
			by[does(p)] = append(by[does(p)], i)
		}
	}
	for name, members := range by {
		if len(members) < 2 {
			continue
		}
		for _, i := range members {
			f.groups[i].family, f.groups[i].elsewhere = name, true
		}
	}
}

// foldRare makes one cause of the rare ones of a family, and of those that have none.
func (f *finder) foldRare(edits []int) {
	for _, i := range edits {
		if g := &f.groups[i]; g.family == "" && g.cases >= f.rareMost() {
			g.family = cmp.Or(g.does(f), "whitespace")
		}
	}
	folded := map[int]bool{}
	var sets []group
	for _, members := range f.tooRare(edits) {
		family := f.groups[members[0]].family
		for _, i := range members {
			folded[i] = true
		}
		name := "rare: " + cmp.Or(family, "other edits")
		if f.groups[members[0]].elsewhere {
			name = family + " elsewhere"
		}
		sets = append(sets, f.merged(members, "family "+family, name, cmp.Or(family, "other")))
	}
	f.replaceBy(sets, folded)
}

// rareMost is how many cases a cause has that is not rare in any event.
func (f *finder) rareMost() int { return max(literalMin, len(f.cases)/foldPart) }

// tooRare returns families of rare causes: of the rarest, and of those the largest, and
// no more of them than leave as many causes as are shown as they are, if that can be.
func (f *finder) tooRare(edits []int) (of [][]int) {
	for _, least := range f.rarities(edits) {
		rare := map[string][]int{}
		for _, i := range edits {
			if g := &f.groups[i]; g.cases < least && (g.elsewhere || g.cases < f.rareMost()) {
				rare[g.family] = append(rare[g.family], i)
			}
		}
		families := sortedKeys(rare)
		slices.SortStableFunc(families, func(x, y string) int { return cmp.Compare(len(rare[y]), len(rare[x])) })
		left := len(edits)
		of = of[:0]
		for _, family := range families {
			if members := rare[family]; len(members) > 1 && left > foldAbove {
				of, left = append(of, members), left-len(members)+1
			}
		}
		if left <= foldAbove {
			return of
		}
	}
	return of
}

// rarities are the numbers of cases below which causes may be rare, those left out that
// make no difference.
func (f *finder) rarities(edits []int) (least []int) {
	most := max(f.rareMost(), len(f.cases)/elsewherePart)
	for _, i := range edits {
		least = append(least, min(f.groups[i].cases+1, most))
	}
	slices.Sort(least)
	return slices.Compact(least)
}

// merged makes one group of several.
func (f *finder) merged(of []int, text, name, family string) group {
	slices.SortFunc(of, func(x, y int) int {
		a, b := &f.groups[x], &f.groups[y]
		return cmp.Or(cmp.Compare(b.cases, a.cases), cmp.Compare(b.lines, a.lines), cmp.Compare(a.text, b.text))
	})
	g := group{kind: Other, text: text, name: name, family: family}
	for _, i := range of {
		part := &f.groups[i]
		g.shapes = append(g.shapes, part.shapes...)
		g.of += max(1, part.of)
		names := part.folded
		if part.of == 0 {
			names = []string{part.name}
		}
		g.folded = append(g.folded, names[:min(len(names), foldedName-len(g.folded))]...)
	}
	return g
}

// consistsOf names what was folded into a group, and says how many more there are than
// it names.
func (g *group) consistsOf() []string {
	if more := g.of - len(g.folded); more > 0 {
		return append(slices.Clone(g.folded), fmt.Sprintf("… and %d more", more))
	}
	return g.folded
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

// choose makes families of those groups that have the most alike, at most max of them.
func choose(groups []int, alike [][]likeness, max int) (families []likeness, of [][]int) {
	left := map[int]bool{}
	for _, i := range groups {
		left[i] = true
	}
	for len(families) < max {
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

// beside are the words that always stand before and behind an edit; 0 for none or several.
type beside struct{ before, after int32 }

// neighbours returns those of each group.
func (f *finder) neighbours() []beside {
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
	return around
}

// likenesses returns what may make a family of each group: neighbours that are always
// the same. A name that has no word says them too, if they are more than chance.
func (f *finder) likenesses() [][]likeness {
	out := make([][]likeness, len(f.groups))
	for i, b := range f.neighbours() {
		g := &f.groups[i]
		does := g.does(f)
		if does == "" {
			continue
		}
		if b.before > 0 {
			out[i] = append(out[i], likeness{does, "behind", printable(f.list[b.before])})
		}
		if b.after > 0 {
			out[i] = append(out[i], likeness{does, "before", printable(f.list[b.after])})
		}
		p := &f.shapes[g.shapes[0]].pattern
		if n := len(out[i]); n > 0 && g.uses >= fillersMin && len(g.shapes) == 1 && p.in == "" && !p.hasWord() {
			g.name += " " + out[i][n-1].beside + ` "` + out[i][n-1].what + `"`
		}
	}
	return out
}

// does says in which direction a cause goes, empty for whitespace.
func (g *group) does(f *finder) string {
	p := &f.shapes[g.shapes[0]].pattern
	switch {
	case p.sort == sortWrap || p.sort == sortEdit && len(p.old) == 0:
		return "adds"
	case p.sort == sortUnwrap || p.sort == sortEdit && len(p.now) == 0:
		return "removes"
	case p.sort == sortEdit:
		return "replaces"
	}
	return ""
}
