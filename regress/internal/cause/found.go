package cause

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/regress/internal/cause/edit"
	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// A finder turns the cases of an Analysis into Found.
type finder struct {
	cases      []*caseRecord
	list       []string
	spaces     map[int32]pattern.Spaces
	patterns   []usedPattern // by key
	at         []int         // for each word its index in patterns, -1 for other words
	literal    int           // a word in this many cases stays literal
	skipsEdits bool          // so many different changes that edits are not examined

	rewritten bool // see isRewritten; valid once groups exist

	words   map[string]wordCount
	shapes  []shape
	shapeOf map[string]int
	groups  []group
	groupOf []int // for each shape
}

// wordCount is the number of cases whose patterns have a word, and the last of them, plus one.
type wordCount struct{ last, cases int }

// usedPattern is a pattern that occurs.
type usedPattern struct {
	pattern.Pattern
	key         string
	cases, uses int
	shape       int
	tiles       []tile // the shapes that it consists of; empty if it has a shape of its own
}

// Causes returns the result. Call Add no more after it.
func (a *Analysis) Causes() *Found {
	slices.SortFunc(a.cases, func(x, y *caseRecord) int { return strings.Compare(x.name, y.name) })
	f := &finder{cases: a.cases, list: a.words.List, spaces: a.words.Spaces, shapeOf: map[string]int{}, words: map[string]wordCount{}}
	f.literal = max(literalMin, len(f.cases)/literalPart)
	f.indexPatterns()
	f.countPatterns()
	f.generalize()
	f.resolve()
	f.makeGroups()
	return f.result()
}

// indexPatterns collects the patterns and sorts them. Their numbers so far depend on the order of
// the cases.
func (f *finder) indexPatterns() {
	f.at = slices.Repeat([]int{-1}, len(f.list))
	var keys []int32
	f.each(func(_ int, p int32) {
		if f.at[p] < 0 {
			f.at[p] = 0
			keys = append(keys, p)
		}
	})
	slices.SortFunc(keys, func(x, y int32) int { return cmp.Compare(f.list[x], f.list[y]) })
	f.skipsEdits = len(keys) > skipAbove && f.mostChanged()
	f.patterns = make([]usedPattern, len(keys))
	for i, k := range keys {
		f.at[k] = i
		f.patterns[i] = usedPattern{key: f.list[k]}
		if f.skipsEdits && kindOf(pattern.SortOf(f.list[k])) == Edit {
			f.patterns[i].Pattern = pattern.Pattern{Sort: pattern.Space, Rest: "anything"}
		} else {
			f.patterns[i].Pattern = pattern.Parse(f.list[k])
			f.patterns[i].Spaces = f.spaces[k]
		}
	}
}

// skipAbove is the number of patterns above which edits are not examined if most of the content
// changed. Examining them would cost memory and find nothing.
const skipAbove = 10_000

// each calls visit for every occurrence of a pattern in a case, with the pattern's word.
func (f *finder) each(visit func(c int, p int32)) {
	for i, s := range f.cases {
		for _, k := range s.keys {
			visit(i, k)
		}
		for _, p := range s.parts {
			for j := range p.Places {
				visit(i, p.Places[j].Pattern)
			}
		}
	}
}

// countPatterns counts the cases of patterns and words.
func (f *finder) countPatterns() {
	last := make([]int, len(f.patterns)) // case plus one
	f.each(func(c int, k int32) {
		p := &f.patterns[f.at[k]]
		p.uses++
		if last[f.at[k]] == c+1 {
			return
		}
		last[f.at[k]] = c + 1
		p.cases++
		for _, side := range [...][]pattern.Piece{p.Old, p.Now} {
			for _, e := range side {
				if e.Kind == token.Word && f.words[e.Text].last != c+1 {
					f.words[e.Text] = wordCount{c + 1, f.words[e.Text].cases + 1}
				}
			}
		}
	})
}

// result builds the Found.
func (f *finder) result() *Found {
	out := &Found{Causes: make([]Cause, len(f.groups))}
	for i := range f.groups {
		g := &f.groups[i]
		out.Rewritten = out.Rewritten || g.kind == Rewritten
		out.Causes[i] = Cause{
			ID: "G" + strconv.Itoa(i+1), Signature: pattern.DigestOf(g.text), Name: g.name, Kind: g.kind, Family: g.family,
			Cases: g.cases, Lines: g.lines, Patterns: g.patterns, Joined: g.joined, Folded: g.folded, FoldedCount: g.foldedCount,
		}
	}
	for _, s := range f.cases {
		out.Members = append(out.Members, f.member(s))
	}
	f.chooseExamples(out)
	return out
}

// member attributes the edits of a case to causes.
func (f *finder) member(s *caseRecord) Member {
	m := Member{Name: s.name}
	for _, k := range s.keys {
		m.Causes = append(m.Causes, f.groupOf[f.patterns[f.at[k]].shape])
	}
	for _, p := range s.parts {
		part := PartEdits{Key: p.key}
		if !p.TooMany {
			part.Edits = make([]Attributed, 0, len(p.Places))
		}
		for i := range p.Places {
			q := &p.Places[i]
			f.patterns[f.at[q.Pattern]].each(func(s int) { m.Causes = append(m.Causes, f.groupOf[s]) })
			if !p.TooMany {
				part.Edits = f.attribute(part.Edits, &p, q)
			}
		}
		m.Parts = append(m.Parts, part)
	}
	slices.Sort(m.Causes)
	m.Causes = slices.Compact(m.Causes)
	return m
}

// attribute appends the edit of a place, or the edits that it consists of.
func (f *finder) attribute(edits []Attributed, p *partRecord, at *edit.Place) []Attributed {
	u := &f.patterns[f.at[at.Pattern]]
	if len(u.tiles) == 0 {
		return append(edits, Attributed{at.LiteralEdit, f.groupOf[u.shape]})
	}
	old, now := at.Old.From, at.Now.From
	for _, t := range u.tiles {
		x, y := at.Old.To, at.Now.To
		if t.old < len(u.Old) {
			x = startOf(p, at, t.old, 0, at.Old.From)
		}
		if t.now < len(u.Now) {
			y = startOf(p, at, t.now, max(0, len(u.Old)-1), at.Now.From)
		}
		edits = append(edits, Attributed{edit.LiteralEdit{Old: edit.Span{From: old, To: x}, Now: edit.Span{From: now, To: y}}, f.groupOf[t.shape]})
		old, now = x, y
	}
	return edits
}

// startOf returns where an element begins.
func startOf(p *partRecord, at *edit.Place, element, first, from int) int {
	if element == 0 {
		return from
	}
	return max(from, int(p.Cuts[int(at.Cut)+first+element-1]))
}

// chooseExamples chooses the example and the smallest case of each cause. Each round covers a cause, and
// causes are few: see causesMax.
func (f *finder) chooseExamples(out *Found) {
	lines := make([]int, len(f.cases))
	for i, s := range f.cases {
		for _, p := range s.parts {
			for j := range p.Places {
				lines[i] += int(p.Places[j].Lines)
			}
		}
	}
	f.chooseSmallest(out)
	covered := make([]bool, len(out.Causes))
	worth := func(i int) float64 {
		fresh := 0
		for _, c := range out.Members[i].Causes {
			if !covered[c] {
				fresh++
			}
		}
		return float64(fresh) / math.Sqrt(8+float64(lines[i]))
	}
	for {
		best, most := -1, 0.0
		for i := range out.Members {
			if w := worth(i); w > most {
				best, most = i, w
			}
		}
		if best < 0 {
			return
		}
		m := &out.Members[best]
		for _, c := range m.Causes {
			if !covered[c] {
				covered[c] = true
				out.Causes[c].Example = m.Name
			}
		}
	}
}

// chooseSmallest finds for each cause the case with the smallest source, preferably one that shows
// nothing else.
func (f *finder) chooseSmallest(out *Found) {
	size := make([]int64, len(out.Causes))
	for i, m := range out.Members {
		s, sole := f.cases[i].size, len(m.Causes) == 1
		for _, c := range m.Causes {
			k := &out.Causes[c]
			if k.Smallest == "" || s < size[c] && (sole || k.Sole == 0) || sole && k.Sole == 0 {
				k.Smallest, size[c] = m.Name, s
			}
			if sole {
				k.Sole++
			}
		}
	}
}
