package outcome

import (
	"muster/regress"
	"slices"
)

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
	families := familiesOf(old)
	return slices.ContainsFunc(Folded(o).Parts, func(p Part) bool {
		was, _ := old.Part(p.Key)
		if !p.Flaky || was.Flaky || was.Form == Ignored {
			return false
		}
		return !slices.ContainsFunc(families, func(f *family) bool { return f.has(p.Path) })
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
	for i := range old.Parts {
		if p := &old.Parts[i]; p.Flaky && !o.ignores(p.Key) {
			o.keepMark(p)
		}
	}
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
	return o.AnyExit && old.AnyExit || slices.ContainsFunc(own, func(e regress.Ending) bool { return !e.Partial() && old.EndedAs(e) })
}

// keepMark copies the marks of a part of old. It copies the contents of old only if the runs of o
// show no content that varies: what changed between them is no variation.
func (o *Outcome) keepMark(old *Part) {
	at, found := o.find(old.Key)
	if !found {
		o.Parts = slices.Insert(o.Parts, at, Part{Key: old.Key, Flaky: true, Seen: ShapesOf(Absent)})
	}
	p := &o.Parts[at]
	p.Seen, p.Flaky = p.shapes(), true
	switch {
	case p.Seen&old.Seen == 0:
	case len(p.Variants) > 0:
		p.Seen |= old.Seen
	default:
		p.addRun(old)
	}
}
