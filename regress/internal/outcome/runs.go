package outcome

import (
	"cmp"
	"slices"

	"muster/regress"
)

// shape returns the shape of a part in the kept run. A nil part means that the run did not
// leave it.
func (p *Part) shape() Shape {
	switch {
	case p == nil || !p.Left():
		return Absent
	case p.Form == Gone:
		return Removed
	case p.Form == Symlink:
		return Link
	case p.Exec && p.Size == 0:
		return EmptyExec
	case p.Exec:
		return FilledExec
	case p.Size == 0:
		return Empty
	}
	return Filled
}

// shapes returns the shapes that a part had in any of its runs.
func (p *Part) shapes() Shapes {
	if p != nil && p.Flaky {
		return p.Seen
	}
	return ShapesOf(p.shape())
}

// VariantsMax bounds the contents that are kept of a flaky part, not counting the kept run's.
// Further contents are discarded.
const VariantsMax = 4

// addRun adds the part q of a further run to p. q is nil if that run did not leave the part.
func (p *Part) addRun(q *Part) (added bool) {
	seen := p.shapes() | q.shapes()
	added = !p.Flaky || seen != p.Seen
	p.Flaky, p.Seen = true, seen
	if q != nil {
		for _, v := range q.Variants {
			one := v.As(p.Key)
			added = p.addRun(&one) || added
		}
	}
	if q == nil || q.Form == Gone || !q.Left() {
		return added
	}
	v := q.content()
	switch {
	case p.same(q) || slices.Contains(p.Variants, v):
		return added
	case len(p.Variants) < VariantsMax:
		p.Variants = append(slices.Clone(p.Variants), v)
		return true
	case p.Form == v.Form || slices.ContainsFunc(p.Variants, func(known Variant) bool { return known.Form == v.Form }):
		return added
	}
	// One content of each form is kept, so that another run in that form can be compared.
	p.Variants = append(slices.Clone(p.Variants[:VariantsMax-1]), v)
	return true
}

// CompareEndings orders endings by kind and code.
func CompareEndings(a, b regress.Ending) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Code, b.Code))
}

// addEndings adds the endings of all runs of again.
func (o *Outcome) addEndings(again *Outcome) (added bool) {
	for _, e := range append(slices.Clone(again.Others), again.Ending) {
		if at, known := slices.BinarySearchFunc(o.Others, e, CompareEndings); !known && e != o.Ending {
			o.Others, added = slices.Insert(slices.Clone(o.Others), at, e), true
		}
	}
	return added
}
