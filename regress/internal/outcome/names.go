package outcome

import (
	"slices"

	"muster/regress/internal/hole"
)

// Folded returns o with the files of the kept run alone, in place of files whose name varies from run to
// run, such as temporary files. Each has the contents that it may have. Folded shares contents with o, and
// must not be changed.
func Folded(o *Outcome) *Outcome {
	rest, families := split(o)
	if len(families.list) == 0 {
		return o
	}
	for _, f := range families.list {
		rest.Parts = append(rest.Parts, f.kept...)
	}
	rest.Sort()
	return rest
}

// A family is files of an outcome with names that vary.
type family struct {
	size   int       // files of all runs
	kept   []Part    // that the kept run left; after split each has the contents that it may have
	others []Variant // what other runs left
	seen   Shapes
}

// families are those of an outcome.
type families struct {
	list   []*family
	names  hole.Names
	byName map[hole.Name]*family
}

// split returns o without its families, and these.
func split(o *Outcome) (*Outcome, families) {
	all := familiesOf(o)
	rest := *o
	rest.Parts = slices.DeleteFunc(slices.Clone(o.Parts), func(p Part) bool { return p.mayVaryInName() && all.of(p) != nil })
	for _, f := range all.list {
		f.spread()
	}
	return &rest, all
}

// mayVaryInName reports whether p is a flaky file that some run lacked.
func (p *Part) mayVaryInName() bool {
	return p.Place == File && p.Flaky && p.Seen&ShapesOf(Absent) != 0
}

// familiesOf finds the flaky files that some run lacked, and whose names differ in one random word or
// number alone. The kept run must have left some of a family, and another run others.
func familiesOf(o *Outcome) families {
	var kept, others []string
	for _, p := range o.Parts {
		switch {
		case !p.mayVaryInName():
		case p.Left():
			kept = append(kept, p.Path)
		default:
			others = append(others, p.Path)
		}
	}
	if len(kept) == 0 || len(others) == 0 {
		return families{} // nearly every outcome: its names are not searched, some 15 µs each
	}
	all := families{names: hole.NamesOf(kept, others), byName: map[hole.Name]*family{}}
	for _, p := range o.Parts {
		if !p.mayVaryInName() {
			continue
		}
		if name, found := all.names.Of(p.Path); found {
			if all.byName[name] == nil {
				all.byName[name] = &family{}
				all.list = append(all.list, all.byName[name])
			}
			all.byName[name].add(p)
		}
	}
	all.list = slices.DeleteFunc(all.list, func(f *family) bool { return !f.varies() })
	return all
}

// varies reports whether the kept run left some files of the family, and another run others.
func (f *family) varies() bool { return len(f.kept) > 0 && len(f.kept) < f.size }

// of returns the family of a file with a name that fits, or nil.
func (all families) of(p Part) *family {
	if p.Place != File || len(all.list) == 0 {
		return nil
	}
	name, _ := all.names.Of(p.Path)
	if f := all.byName[name]; f != nil && f.varies() {
		return f
	}
	return nil
}

// Predecessors returns a function that finds the part of o that a part of a later outcome replaces: the
// one with its key, or a file of the kept run whose name varies in that way.
func Predecessors(o *Outcome) func(p Part) (Part, bool) {
	_, all := split(o)
	return func(p Part) (Part, bool) {
		if was, known := o.Part(p.Key); known {
			return was, true
		}
		f := all.of(p)
		if f == nil {
			return Part{}, false
		}
		return slices.MaxFunc(f.kept, func(a, b Part) int { return len(a.Variants) - len(b.Variants) }), true
	}
}

func (f *family) add(p Part) {
	f.size++
	f.seen |= p.Seen
	if p.Left() {
		f.kept = append(f.kept, p)
	} else {
		f.others = append(f.others, p.Variants...)
	}
}

// spread gives each kept file the contents that it may have. A content that every run left, as often,
// never varied: it stands for itself alone, seen twice. The other contents may be those of any file.
func (f *family) spread() {
	if f.seen == AllShapes {
		return // nothing is compared
	}
	own, other := map[Variant]int{}, map[Variant]int{}
	for _, p := range f.kept {
		own[p.content()]++
	}
	for _, v := range f.others {
		other[v]++
	}
	isSteady := func(v Variant) bool { return other[v] > 0 && other[v]*len(f.kept) == own[v]*len(f.others) }
	varying := slices.DeleteFunc(slices.Clone(f.others), isSteady)
	for i := range f.kept {
		p := &f.kept[i]
		v := p.content()
		if isSteady(v) && len(p.Variants) == 0 {
			p.Seen, p.Variants = ShapesOf(p.shape()), []Variant{v}
			continue
		}
		p.Seen = f.seen &^ ShapesOf(Absent)
		if varying = append(varying, p.Variants...); v.Form < Gone {
			varying = append(varying, v)
		}
		p.Variants = nil
	}
	varying = sample(varying)
	for i := range f.kept {
		if p := &f.kept[i]; len(p.Variants) == 0 {
			p.Variants = varying
		}
	}
}

// sampleMax bounds the contents that a file of a family may have. Each file is compared with all of them.
const sampleMax = 32

// sample returns each content once, or sampleMax of them, evenly spaced.
func sample(contents []Variant) (list []Variant) {
	known := map[Variant]bool{}
	contents = slices.DeleteFunc(contents, func(v Variant) bool {
		was := known[v]
		known[v] = true
		return was
	})
	n := min(len(contents), sampleMax)
	for i := range n {
		list = append(list, contents[i*len(contents)/n])
	}
	return list
}

// take removes from now the parts that belong to a family. It returns the rest of now, and the parts of
// each family. A part that others has belongs to that.
func (all families) take(now, others *Outcome) (rest *Outcome, taken map[*family][]Part) {
	rest, taken = &Outcome{}, map[*family][]Part{}
	*rest = *now
	rest.Parts = slices.DeleteFunc(slices.Clone(now.Parts), func(p Part) bool {
		f := all.of(p)
		if f == nil || !p.Left() {
			return false
		}
		if _, isOther := others.find(p.Key); isOther {
			return false
		}
		taken[f] = append(taken[f], p)
		return true
	})
	return rest, taken
}

// pair returns the file of now for each kept file, or nil: one with the same content if there is one.
// It also returns the files that are left over.
func (f *family) pair(now []Part) (pairs []*Part, rest []Part) {
	pairs = make([]*Part, len(f.kept))
	same := map[Variant][]int{}
	for i, p := range f.kept {
		same[p.content()] = append(same[p.content()], i)
	}
	for _, p := range now {
		if at := same[p.content()]; len(at) > 0 {
			pairs[at[0]], same[p.content()] = &p, at[1:]
		} else {
			rest = append(rest, p)
		}
	}
	for i := range pairs {
		if pairs[i] == nil && len(rest) > 0 {
			pairs[i], rest = &rest[0], rest[1:]
		}
	}
	return pairs, rest
}

// Ignore makes every part Ignored that match accepts. It discards their contents.
func (o *Outcome) Ignore(match func(Key) bool) {
	for i := range o.Parts {
		if p := &o.Parts[i]; match(p.Key) {
			*p = Part{Key: p.Key, Form: Ignored}
		}
	}
}

// IgnoreOf applies Ignore to o, as it was applied to old. It adds an Ignored part for each part
// of old that match accepts and that o lacks. So o and old compare alike in these parts.
func (o *Outcome) IgnoreOf(old *Outcome, match func(Key) bool) {
	o.Parts = slices.Clone(o.Parts) // another outcome may share them
	var further []Part
	for _, p := range old.Parts {
		if !match(p.Key) {
			continue
		}
		one := Part{Key: p.Key, Form: Ignored}
		if at, found := o.find(p.Key); found {
			o.Parts[at] = one
		} else {
			further = append(further, one)
		}
	}
	o.Parts = append(o.Parts, further...)
	o.Sort()
}

// ignores reports whether the part with that key is Ignored.
func (o *Outcome) ignores(k Key) bool {
	p, found := o.Part(k)
	return found && p.Form == Ignored
}

// IgnoredParts returns the keys of the Ignored parts.
func (o *Outcome) IgnoredParts() (keys []Key) {
	for _, p := range o.Parts {
		if p.Form == Ignored {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

// eitherIgnored reports whether one of two parts is Ignored. Either may be nil.
func eitherIgnored(p, q *Part) bool {
	return p != nil && p.Form == Ignored || q != nil && q.Form == Ignored
}
