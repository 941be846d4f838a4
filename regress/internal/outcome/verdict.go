package outcome

import (
	"cmp"
	"slices"

	"muster/regress"
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

// Names returns the names of the parts that differ, the ending first.
func (c Comparison) Names() (parts []string) {
	if c.EndingDiffers {
		parts = append(parts, EndingPart)
	}
	for _, d := range c.Parts {
		parts = append(parts, PartName(d.Key))
	}
	return parts
}

// Compare compares now with the golden outcome old. It leaves out parts that either ignores. It
// compares a part that either marks as flaky by the shapes seen, and then by same. Two endings are
// the same if some run of each outcome ended alike. A partial outcome is compared by its ending
// alone, and differs from every complete one.
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
	err := walk(old, now, func(o, n *Part) error {
		d, err := difference(o, n, same)
		if d != nil {
			c.Parts = append(c.Parts, *d)
		}
		return err
	})
	return c, err
}

// endedAlike reports whether a run of a and a run of b ended in the same way.
func endedAlike(a, b *Outcome) bool {
	return a.EndedAs(b.Ending) || b.EndedAs(a.Ending) || slices.ContainsFunc(b.Others, a.EndedAs)
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
	switch kind := now.Ending.Kind; {
	case c.Identical():
		return regress.Identical
	case !c.EndingDiffers:
		return regress.Changed
	case kind == regress.TimedOut:
		return regress.NewlyTimedOut
	case kind == regress.OutOfMemory:
		return regress.NewlyOutOfMemory
	case kind == regress.OutputLimit:
		return regress.NewlyOutputLimited
	case kind == regress.Signalled:
		return regress.Crashed
	case old.Ending.Success():
		return regress.NewlyFailing
	case now.Ending.Success():
		return regress.NewlyPassing
	}
	return regress.Changed
}

// MergeEffect is the effect of a Merge on its first outcome.
type MergeEffect uint8

// The closed set of effects.
const (
	Nothing  MergeEffect = iota // again added nothing new
	Marked                      // differing parts are marked as flaky, or an ending was added
	Replaced                    // again ended by itself and o did not: o now has the parts and contents of again
)

// Merge adds again, a further run of the same case with the same tool, to o. again may also be
// several runs that Merge joined. Merge marks every part in which they differ as flaky, and
// keeps every ending. A part that only again left is added without the content of the kept run.
// A part that either outcome ignores is Ignored. A complete run replaces a partial one, because
// a partial run cannot be compared.
func Merge(o, again *Outcome, same Same) (MergeEffect, error) {
	switch wasPartial, isPartial := o.Ending.Partial(), again.Ending.Partial(); {
	case wasPartial && !isPartial:
		was := *o
		*o = Outcome{Ending: again.Ending, ByStatus: again.ByStatus, Parts: slices.Clone(again.Parts)}
		o.addEndings(again)
		o.addEndings(&was)
		return Replaced, nil
	case isPartial:
		return marked(o.addEndings(again)), nil
	}
	changed, err := o.mergeParts(again, same)
	return marked(o.addEndings(again) || changed), err
}

func marked(changed bool) MergeEffect {
	if changed {
		return Marked
	}
	return Nothing
}

func (o *Outcome) mergeParts(again *Outcome, same Same) (changed bool, err error) {
	o.Parts = slices.Clone(o.Parts) // a copy, because o may be the outcome of one run
	var further []Part              // added after the walk over o.Parts
	err = walk(o, again, func(p, q *Part) error {
		switch {
		case p == nil && q.Form == Ignored:
			further = append(further, *q)
			return nil
		case eitherIgnored(p, q):
			*p = Part{Key: p.Key, Form: Ignored}
			return nil
		case p == nil:
			one := Part{Key: q.Key}
			one.addRun(q)
			further, changed = append(further, one), true
			return nil
		}
		if !p.Flaky && (q == nil || !q.Flaky) {
			if d, err := difference(p, q, same); err != nil || d == nil {
				return err
			}
		}
		changed = p.addRun(q) || changed
		return nil
	})
	o.Parts = append(o.Parts, further...)
	o.Sort()
	return changed, err
}

// VariesBeyond reports whether the runs of o vary in a part or an ending in which the runs of
// old do not vary.
func (o *Outcome) VariesBeyond(old *Outcome) bool {
	if o.EndingFlaky() && !old.EndingFlaky() {
		return true
	}
	return slices.ContainsFunc(o.Parts, func(p Part) bool {
		was, _ := old.Part(p.Key)
		return p.Flaky && !was.Flaky && was.Form != Ignored
	})
}

// KeepFlaky copies the flaky marks of old into o, which replaces old in a golden. A change of
// the tool seldom makes a part stop varying. If it does, a new record clears the mark.
// KeepFlaky does not copy what o replaces: it copies the endings of old only if a run of o
// ended as one of them, and the shapes of a part only if o has the part in one of them.
func (o *Outcome) KeepFlaky(old *Outcome) {
	if o.Ending.Partial() || old.Ending.Partial() {
		return
	}
	if old.EndingFlaky() && o.endsAsBefore(old) {
		o.addEndings(old)
	}
	o.Parts = slices.Clone(o.Parts)
	var further []Part // added after the search in o.Parts
	for i := range old.Parts {
		p := &old.Parts[i]
		if !p.Flaky || o.ignores(p.Key) {
			continue
		}
		if at, found := o.find(p.Key); found {
			o.Parts[at].keepMark(p)
			continue
		}
		one := Part{Key: p.Key, Flaky: true, Seen: ShapesOf(Absent)}
		one.keepMark(p)
		further = append(further, one)
	}
	o.Parts = append(o.Parts, further...)
	o.Sort()
}

// MaskFlaky makes o comparable with outcomes of another source: nothing of its flaky parts counts.
func MaskFlaky(o *Outcome) {
	for i := range o.Parts {
		if p := &o.Parts[i]; p.Flaky {
			p.Seen, p.Variants = AllShapes, nil
		}
	}
}

// endsAsBefore reports whether some run of o ended by itself, in the same way as a run of old.
// Two runs that a limit ended have nothing in common.
func (o *Outcome) endsAsBefore(old *Outcome) bool {
	own := append(slices.Clone(o.Others), o.Ending)
	return slices.ContainsFunc(own, func(e regress.Ending) bool { return !e.Partial() && old.EndedAs(e) })
}

// keepMark copies the marks of a part of old. It copies the contents of old only if no run of o left one
// to compare: what changed between them is no variation.
func (p *Part) keepMark(old *Part) {
	p.Seen, p.Flaky = p.shapes(), true
	switch {
	case p.Seen&old.Seen == 0:
	case len(p.Variants) > 0, p.Left() && p.Size > 0 && p.Form == old.Form:
		p.Seen |= old.Seen
	default:
		p.addRun(old)
	}
}
