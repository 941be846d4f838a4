package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/name"
)

const (
	foldAbove     = 25  // causes of edits that are shown unfolded
	foldPart      = 100 // a cause with less than one in this number of cases, or than literalMin, is rare
	elsewherePart = 20  // the same for a cause that has the same change at other places beside it
	familyMin     = 3   // causes that make a family
	familyMax     = 20  // families with common neighbours; the others share only the direction
	foldedName    = 200 // names kept of the causes that were folded into one
)

// A likeness is what the causes of a family share: their direction, and a word that always stands
// before or after them.
type likeness struct{ does, beside, what string }

func (l likeness) String() string { return l.does + " " + l.beside + " " + l.what }

// foldEdits gives causes their families. If there are too many causes, the rare ones of a family become
// one cause.
func (f *finder) foldEdits() {
	f.joinAlike()
	var edits []int
	for i := range f.groups {
		if f.groups[i].kind == Edit {
			edits = append(edits, i)
		}
	}
	f.groupByPlace(edits)
	f.chooseFamilies(edits)
	if len(edits) > foldAbove {
		f.foldRare(edits)
	}
}

// joinAlike makes one cause of those that put in or take out something before one sort of bracket, where
// an element of a list mostly begins: the types of literals, say, whatever they are.
func (f *finder) joinAlike() {
	by := map[likeness][]int{}
	for i, w := range groupNeighbours(f) {
		after := f.list[w.after]
		if 3*w.begins < 2*w.uses || w.after == 0 || !strings.Contains("([{", after) {
			continue
		}
		g := &f.groups[i]
		adds := len(f.shapes[g.shapes[0]].Old) == 0
		isUnlike := func(s int) bool {
			p := &f.shapes[s].Pattern
			isOneSided := p.IsEdit() && min(len(p.Old), len(p.Now)) == 0 && (len(p.Old) == 0) == adds
			// Signs alone, such as ! and -, say too much to be joined.
			return !isOneSided || p.In != "" || !p.HasWord() && !p.IsOpen()
		}
		if !slices.ContainsFunc(g.shapes, isUnlike) {
			l := likeness{g.direction(f), "before", after}
			by[l] = append(by[l], i)
		}
	}
	var sets []group
	for l, members := range by {
		if len(members) < familyMin {
			continue
		}
		sign := "- "
		if l.does == "adds" {
			sign = "+ "
		}
		g := f.mergeGroups(members, "any "+l.String(), sign+`… before "`+l.what+`"`, "")
		g.kind, g.folded, g.foldedCount = Edit, nil, 0
		sets = append(sets, g)
	}
	slices.SortFunc(sets, func(x, y group) int { return cmp.Compare(x.text, y.text) })
	f.replaceGroups(sets)
}

// groupByPlace makes a family of causes that make the same change at different places.
func (f *finder) groupByPlace(edits []int) {
	by := map[string][]int{}
	for _, i := range edits {
		if p := &f.shapes[f.groups[i].shapes[0]].Pattern; pattern.NeedsContext(p) {
			by[pattern.Describe(p)] = append(by[pattern.Describe(p)], i)
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

// foldRare makes one cause of the rare causes of each family, and of those without one.
func (f *finder) foldRare(edits []int) {
	var sets []group
	for _, members := range f.rareFamilies(edits) {
		family := f.groups[members[0]].family
		name := "rare: " + cmp.Or(family, "other edits")
		if f.groups[members[0]].elsewhere {
			name = family + " elsewhere"
		}
		sets = append(sets, f.mergeGroups(members, "family "+family, name, cmp.Or(family, "other")))
	}
	f.replaceGroups(sets)
}

// rareBelow returns the number of cases from which on a cause is never rare.
func (f *finder) rareBelow() int { return max(literalMin, len(f.cases)/foldPart) }

// rareFamilies returns families of rare causes to fold. It takes the rarest causes first, and of
// those the largest families. It stops once at most foldAbove causes are left, if that can be
// reached.
func (f *finder) rareFamilies(edits []int) (of [][]int) {
	for _, least := range f.rarities(edits) {
		rare := map[string][]int{}
		for _, i := range edits {
			if g := &f.groups[i]; g.cases < least && (g.elsewhere || g.cases < f.rareBelow()) {
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

// rarities returns the thresholds in cases below which causes count as rare, each that makes a
// difference once.
func (f *finder) rarities(edits []int) (least []int) {
	most := max(f.rareBelow(), len(f.cases)/elsewherePart)
	for _, i := range edits {
		least = append(least, min(f.groups[i].cases+1, most))
	}
	slices.Sort(least)
	return slices.Compact(least)
}

// mergeGroups makes one group of several. It takes their shapes.
func (f *finder) mergeGroups(of []int, text, name, family string) group {
	slices.SortFunc(of, func(x, y int) int {
		a, b := &f.groups[x], &f.groups[y]
		return cmp.Or(cmp.Compare(b.cases, a.cases), cmp.Compare(b.lines, a.lines), cmp.Compare(a.text, b.text))
	})
	g := group{kind: Other, text: text, name: name, family: family}
	for _, i := range of {
		part := &f.groups[i]
		g.shapes, part.shapes = append(g.shapes, part.shapes...), nil
		g.foldedCount += max(1, part.foldedCount)
		names := part.folded
		if part.foldedCount == 0 {
			names = []string{part.name}
		}
		g.folded = append(g.folded, names[:min(len(names), foldedName-len(g.folded))]...)
	}
	return g
}

// replaceGroups replaces the groups without shapes by the sets that took them.
func (f *finder) replaceGroups(sets []group) {
	var kept []int
	for i := range f.groups {
		if f.groups[i].shapes != nil {
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

// chooseFamilies makes at most familyMax families of those groups without one that have most in common.
func (f *finder) chooseFamilies(edits []int) {
	alike := f.likenesses()
	for range familyMax {
		count := map[likeness]int{}
		for _, i := range edits {
			if f.groups[i].family == "" {
				for _, l := range alike[i] {
					count[l]++
				}
			}
		}
		best, most := likeness{}, familyMin-1
		for l, n := range count {
			if n > most || n == most && n >= familyMin && l.String() < best.String() {
				best, most = l, n
			}
		}
		if most < familyMin {
			return
		}
		for _, i := range edits {
			if g := &f.groups[i]; g.family == "" && slices.Contains(alike[i], best) {
				g.family = best.String()
			}
		}
	}
}

// nearlyAll of the cases of causes are the same if the causes are shown as a family: nine of ten.
const nearlyAll = 0.9

// groupByCases makes families of single edits that are in nearly the same cases. That replaces a family with
// common neighbours, but not one of the same change at other places. It is for reading alone: being
// in the same cases is no evidence for one cause, and causes that nearly all cases show say nothing by it.
func groupByCases(f *finder) {
	in := make([][]int, len(f.groups)) // the cases of each group, ascending
	f.each(func(c int, k int32) {
		f.patterns[f.at[k]].each(func(s int) {
			g := f.groupOf[s]
			if n := len(in[g]); n == 0 || in[g][n-1] != c {
				in[g] = append(in[g], c)
			}
		})
	})
	done, taken := make([]bool, len(f.groups)), map[string]bool{}
	for i := range f.groups {
		taken[f.groups[i].family] = true
	}
	for i := range f.groups {
		g := &f.groups[i]
		isEverywhere := float64(len(in[i])) >= nearlyAll*float64(len(f.cases))
		done[i] = done[i] || g.kind != Edit || g.foldedCount > 0 || g.elsewhere || isEverywhere
		if done[i] {
			continue
		}
		family := "with " + g.name
		if len(in[i]) == 1 {
			family = "only in " + name.Print(f.cases[in[i][0]].name)
		}
		for base, n := family, 2; taken[family]; n++ { // names are shortened, so two may be alike
			family = fmt.Sprintf("%s (%d)", base, n)
		}
		for j := i + 1; j < len(f.groups); j++ {
			h := &f.groups[j]
			if !done[j] && h.kind == Edit && h.foldedCount == 0 && !h.elsewhere && areNearlyAll(in[i], in[j]) {
				g.family, h.family, done[j], taken[family] = family, family, true, true
			}
		}
	}
	members := map[string]int{}
	for i := range f.groups {
		members[f.groups[i].family]++
	}
	for i := range f.groups {
		if g := &f.groups[i]; members[g.family] == 1 && g.foldedCount == 0 {
			g.family = "" // the others have another family now
		}
	}
}

// areNearlyAll reports whether two lists of cases have nearly all in common.
func areNearlyAll(a, b []int) bool {
	common, j := 0, 0
	for _, c := range a {
		for j < len(b) && b[j] < c {
			j++
		}
		if j < len(b) && b[j] == c {
			common++
		}
	}
	return float64(common) >= nearlyAll*float64(len(a)+len(b)-common)
}

// neighbourWords are the words that always stand before and after some edits; 0 for none, or if they vary.
type neighbourWords struct {
	before, after int32
	vary          bool
	uses, begins  int // edits, and those of them where an element of a list begins: behind a bracket, a comma, a colon, =
}

// add takes account of further edits with such neighbours.
func (w *neighbourWords) add(before, after int32, uses, begins int) {
	if w.uses == 0 {
		w.before, w.after = before, after
	}
	w.uses, w.begins = w.uses+uses, w.begins+begins
	if w.before != before {
		w.before, w.vary = 0, true
	}
	if w.after != after {
		w.after, w.vary = 0, true
	}
}

// shapeNeighbours returns the constant neighbours of each shape.
func shapeNeighbours(f *finder) []neighbourWords {
	around := make([]neighbourWords, len(f.shapes))
	for _, s := range f.cases {
		for _, p := range s.parts {
			for i := range p.Places {
				q := &p.Places[i]
				f.patterns[f.at[q.Pattern]].each(func(s int) { around[s].add(q.Before, q.After, 1, beginsElement(f.list[q.Before])) })
			}
		}
	}
	return around
}

func beginsElement(before string) int {
	switch before {
	case "{", "(", "[", ",", ":", "=", "": // "": the beginning of a line
		return 1
	}
	return 0
}

// groupNeighbours returns the constant neighbours of each group.
func groupNeighbours(f *finder) []neighbourWords {
	of := make([]neighbourWords, len(f.groups))
	for s, w := range shapeNeighbours(f) {
		if w.uses > 0 {
			of[f.groupOf[s]].add(w.before, w.after, w.uses, w.begins)
		}
	}
	return of
}

// likenesses returns for each group the likenesses that may make a family: neighbours that never
// vary. A name without a word also gets its neighbour, if that is no chance.
func (f *finder) likenesses() [][]likeness {
	out := make([][]likeness, len(f.groups))
	for i, b := range groupNeighbours(f) {
		g := &f.groups[i]
		does := g.direction(f)
		if does == "" {
			continue
		}
		if b.before > 0 {
			out[i] = append(out[i], likeness{does, "behind", pattern.Printable(f.list[b.before])})
		}
		if b.after > 0 {
			out[i] = append(out[i], likeness{does, "before", pattern.Printable(f.list[b.after])})
		}
		p := &f.shapes[g.shapes[0]].Pattern
		if n := len(out[i]); n > 0 && g.uses >= fillersMin && len(g.shapes) == 1 && p.IsEdit() && p.In == "" && !p.HasWord() {
			g.name += " " + out[i][n-1].beside + ` "` + out[i][n-1].what + `"`
		}
	}
	return out
}

// direction returns whether a cause adds, removes or replaces; empty for whitespace.
func (g *group) direction(f *finder) string {
	p := &f.shapes[g.shapes[0]].Pattern
	switch {
	case p.Sort == pattern.Wrap || p.Sort == pattern.Edit && len(p.Old) == 0:
		return "adds"
	case p.Sort == pattern.Unwrap || p.Sort == pattern.Edit && len(p.Now) == 0:
		return "removes"
	case p.Sort == pattern.Edit:
		return "replaces"
	case p.Sort == pattern.Renumber:
		return "renumbers"
	}
	return ""
}

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
	p := &f.shapes[g.shapes[0]].Pattern
	switch g.kind {
	case Edit, Other:
		return foldKey{Other, cmp.Or(g.family, g.direction(f), "whitespace")}
	case Failing, Passing, Ended:
		return foldKey{g.kind, pattern.Printable(howEnded(p.Rest))}
	}
	return foldKey{g.kind, pattern.Printable(whatHappened(p.Rest))}
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
	var sets []group
	for s, members := range folds {
		if len(members) < 2 {
			continue
		}
		family := cmp.Or(s.family, kindName(s.kind))
		g := f.mergeGroups(members, "bound "+string(s.kind)+" "+s.family, "other: "+family, family)
		g.kind = s.kind
		sets = append(sets, g)
	}
	f.replaceGroups(sets)
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
