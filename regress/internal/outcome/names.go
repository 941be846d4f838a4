package outcome

import (
	"slices"

	"muster/regress/internal/hole"
)

// Folded returns o with one part in place of files whose name varies from run to run, such as
// temporary files. The part has the key of a file of the kept run, and the contents of all runs. It
// shares contents with o, and must not be changed.
func Folded(o *Outcome) *Outcome {
	folded, _ := fold(o)
	return folded
}

// A family is files of an outcome with names that vary.
type family struct {
	paths []string
	kept  []Part // that the kept run left; after fold each has the contents of all
	all   Part   // the contents and shapes of all
}

// fold returns o without the families, but for the parts that the kept run left.
func fold(o *Outcome) (*Outcome, []*family) {
	families := familiesOf(o)
	if len(families) == 0 {
		return o, nil
	}
	folded := *o
	folded.Parts = slices.DeleteFunc(slices.Clone(o.Parts), func(p Part) bool {
		return slices.ContainsFunc(families, func(f *family) bool { return slices.Contains(f.paths, p.Path) })
	})
	for _, f := range families {
		for i := range f.kept {
			f.kept[i].Seen, f.kept[i].Variants = f.all.Seen, f.all.Variants
		}
		folded.Parts = append(folded.Parts, f.kept...)
	}
	folded.Sort()
	return &folded, families
}

// familiesOf finds the flaky files that some run lacked, and whose names differ in one random word or
// number alone. The kept run must have left some of a family, and another run others.
func familiesOf(o *Outcome) (list []*family) {
	for _, p := range o.Parts {
		if p.Place != File || !p.Flaky || p.Seen&ShapesOf(Absent) == 0 {
			continue
		}
		at := slices.IndexFunc(list, func(f *family) bool { return hole.SameName(append(slices.Clone(f.paths), p.Path)) })
		if at < 0 {
			list = append(list, &family{})
			at = len(list) - 1
		}
		list[at].add(p)
	}
	return slices.DeleteFunc(list, func(f *family) bool { return len(f.kept) == 0 || len(f.kept) == len(f.paths) })
}

func (f *family) add(p Part) {
	f.paths = append(f.paths, p.Path)
	f.all.Seen |= p.Seen &^ ShapesOf(Absent)
	if p.Left() {
		f.kept = append(f.kept, p)
		if p.Form < Gone {
			f.all.Variants = append(f.all.Variants, Variant{p.Form, p.Exec, p.Size, p.Digest})
		}
	}
	f.all.Variants = append(f.all.Variants, p.Variants...)
}

// take removes from parts those that belong to a family, as many as the kept run left, and returns
// them. A part that others has belongs to that.
func (f *family) take(parts []Part, others *Outcome) (rest, taken []Part) {
	rest = slices.DeleteFunc(slices.Clone(parts), func(p Part) bool {
		if _, isOther := others.find(p.Key); isOther {
			return false
		}
		if p.Place != File || !p.Left() || len(taken) == len(f.kept) || !f.has(p.Path) {
			return false
		}
		taken = append(taken, p)
		return true
	})
	return rest, taken
}

func (f *family) has(path string) bool {
	return slices.Contains(f.paths, path) || hole.SameName(append(slices.Clone(f.paths), path))
}

// without returns o without some parts.
func without(o *Outcome, parts []Part) *Outcome {
	rest := *o
	rest.Parts = slices.DeleteFunc(slices.Clone(o.Parts), func(p Part) bool {
		return slices.ContainsFunc(parts, func(q Part) bool { return p.Key == q.Key })
	})
	return &rest
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
	for _, p := range old.Parts {
		if !match(p.Key) || o.ignores(p.Key) {
			continue
		}
		at, found := o.find(p.Key)
		o.Parts = slices.Clone(o.Parts) // another outcome may share them
		if !found {
			o.Parts = slices.Insert(o.Parts, at, Part{})
		}
		o.Parts[at] = Part{Key: p.Key, Form: Ignored}
	}
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
