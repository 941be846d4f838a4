package outcome

import (
	"cmp"
	"muster/regress"
	"slices"
)

// Same reports whether two parts with different raw contents count as the same: a rule rewrites
// both alike, or one is flaky and the other differs only where that varies. A nil Same reports
// false, and true if a part is flaky.
type Same func(old, now Part) (bool, error)

// Difference is one part in which two outcomes differ. Old or Now is nil if only the other side
// has the part.
type Difference struct {
	Key
	Old, Now *Part
}

// Comparison is the result of comparing two outcomes.
type Comparison struct {
	EndingDiffers bool
	Parts         []Difference
}

// Identical reports whether nothing that counts differs.
func (c Comparison) Identical() bool { return !c.EndingDiffers && len(c.Parts) == 0 }

// Compare compares now with the golden outcome old. It leaves out parts that either ignores. It
// compares a part that either marks as flaky by the shapes seen, and then by same. A file of old
// whose name varied is compared with one of now whose name fits. Two
// endings are the same if some run of each outcome ended alike. A partial outcome is compared
// by its ending alone, and differs from every complete one.
func Compare(old, now *Outcome, same Same) (Comparison, error) {
	var c Comparison
	if old.Ending.Partial() != now.Ending.Partial() {
		c.EndingDiffers = true
		return c, nil
	}
	c.EndingDiffers = !endedAlike(old, now)
	if old.Ending.Partial() {
		return c, nil
	}
	old, now, differ, err := pairByName(old, now, same)
	if err != nil {
		return c, err
	}
	c.Parts = differ
	err = walk(old, now, func(o, n *Part) error {
		d, err := difference(o, n, same)
		if d != nil {
			c.Parts = append(c.Parts, *d)
		}
		return err
	})
	slices.SortFunc(c.Parts, func(a, b Difference) int { return compareKeys(a.Key, b.Key) })
	return c, err
}

// pairByName removes families of old from both sides, and compares them.
func pairByName(old, now *Outcome, same Same) (a, b *Outcome, differ []Difference, err error) {
	a, families := fold(old)
	b = now
	for _, f := range families {
		a = without(a, f.kept)
		rest := *b
		var taken []Part
		rest.Parts, taken = f.take(b.Parts, a)
		b = &rest
		for i := range f.kept {
			var n *Part
			if i < len(taken) {
				n = &taken[i]
			}
			d, err := difference(&f.kept[i], n, same)
			if err != nil {
				return a, b, nil, err
			}
			if d != nil {
				differ = append(differ, *d)
			}
		}
	}
	return a, b, differ, nil
}

// endedAlike reports whether a run of a and a run of b ended in the same way.
func endedAlike(a, b *Outcome) bool {
	return a.EndedAs(b.Ending) || b.EndedAs(a.Ending) || slices.ContainsFunc(b.Others, a.EndedAs) || a.AnyExit && b.AnyExit
}

// LimitKnown reports whether a limit ended now, the same limit ended a run of old, and the kept
// run of old is complete. Such a run cannot be compared: it is neither equal nor different.
func LimitKnown(old, now *Outcome) bool {
	return now.Ending.Partial() && !old.Ending.Partial() && slices.Contains(old.Others, now.Ending)
}

func difference(o, n *Part, same Same) (*Difference, error) {
	switch {
	case eitherIgnored(o, n):
		return nil, nil
	case o != nil && o.Flaky || n != nil && n.Flaky:
		if alike := o.shapes()&n.shapes() != 0; !alike || same == nil || o == nil || n == nil {
			return keep(alike, o, n), nil
		}
	case o == nil || n == nil:
		return keep(false, o, n), nil
	case o.same(n):
		return nil, nil
	case same == nil || o.Form != Regular || n.Form != Regular || o.Exec != n.Exec:
		return keep(false, o, n), nil
	}
	equal, err := same(*o, *n)
	return keep(equal, o, n), err
}

// keep returns the difference of two parts, or nothing if they are equal.
func keep(equal bool, o, n *Part) *Difference {
	if equal {
		return nil
	}
	d := &Difference{Old: o, Now: n}
	if d.Key = cmp.Or(o, n).Key; o != nil && !o.Left() {
		d.Old = nil
	}
	if n != nil && !n.Left() {
		d.Now = nil
	}
	return d
}

// walk calls visit in order for every key that either outcome has.
func walk(a, b *Outcome, visit func(a, b *Part) error) error {
	i, j := 0, 0
	for i < len(a.Parts) || j < len(b.Parts) {
		var order int
		switch {
		case i == len(a.Parts):
			order = 1
		case j == len(b.Parts):
			order = -1
		default:
			order = compareKeys(a.Parts[i].Key, b.Parts[j].Key)
		}
		var pa, pb *Part
		if order <= 0 {
			pa = &a.Parts[i]
			i++
		}
		if order >= 0 {
			pb = &b.Parts[j]
			j++
		}
		if err := visit(pa, pb); err != nil {
			return err
		}
	}
	return nil
}

// Judge returns the verdict on now, given how it compares with the golden outcome old. It does
// not decide flakiness: that takes further runs.
func Judge(old, now *Outcome, c Comparison) regress.Verdict {
	if c.Identical() {
		return regress.Identical
	}
	if !c.EndingDiffers {
		return regress.Changed
	}
	switch now.Ending.Kind {
	case regress.TimedOut:
		return regress.NewlyTimedOut
	case regress.OutOfMemory:
		return regress.NewlyOutOfMemory
	case regress.OutputLimit:
		return regress.NewlyOutputLimited
	case regress.Signalled:
		return regress.Crashed
	}
	switch {
	case old.Ending.Success():
		return regress.NewlyFailing
	case now.Ending.Success():
		return regress.NewlyPassing
	}
	return regress.Changed
}
