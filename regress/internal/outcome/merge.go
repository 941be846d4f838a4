package outcome

import "slices"

// MergeEffect says what Merge did.
type MergeEffect uint8

// What it may have done, a closed set.
const (
	Nothing  MergeEffect = iota // again showed nothing new
	Marked                      // what differs is marked as flaky
	Replaced                    // o is again now, with its contents: it ended by itself, and o had not
)

// Merge takes into o what again, a single further run of the same case with the same tool,
// shows: every part in which they differ is marked as flaky, and every ending is kept.
// Parts that only again left are added without content of the kept run. A partial outcome,
// which could not be compared, gives way to a complete one.
func Merge(o, again *Outcome, same Same) (MergeEffect, error) {
	switch wasPartial, isPartial := o.Ending.Partial(), again.Ending.Partial(); {
	case wasPartial && !isPartial:
		ended := append(slices.Clone(o.Others), o.Ending)
		*o = Outcome{Ending: again.Ending, ByStatus: again.ByStatus, Parts: slices.Clone(again.Parts)}
		for _, e := range ended {
			o.addEnding(e)
		}
		return Replaced, nil
	case isPartial:
		return marked(o.addEnding(again.Ending)), nil
	}
	changed, err := o.mergeParts(again, same)
	return marked(o.addEnding(again.Ending) || changed), err
}

func marked(changed bool) MergeEffect {
	if changed {
		return Marked
	}
	return Nothing
}

func (o *Outcome) mergeParts(again *Outcome, same Same) (changed bool, err error) {
	var further []Part // not added at once: the parts are being walked over
	err = walk(o, again, func(p, q *Part) error {
		if p == nil {
			one := Part{Key: q.Key}
			one.addRun(q)
			further, changed = append(further, one), true
			return nil
		}
		if !p.Flaky {
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

// VariesBeyond reports whether the runs behind o differ from each other in a part, or in how
// they ended, where those behind old do not.
func (o *Outcome) VariesBeyond(old *Outcome) bool {
	if o.EndingFlaky() && !old.EndingFlaky() {
		return true
	}
	return slices.ContainsFunc(o.Parts, func(p Part) bool {
		was, _ := old.Part(p.Key)
		return p.Flaky && !was.Flaky
	})
}

// KeepFlaky marks in o, which takes the place of old in a golden, what old had marked: that
// a part differs from run to run seldom ends with a change of the tool, and where it did, a
// new record finds out. An ending that was flaky stays so.
func (o *Outcome) KeepFlaky(old *Outcome) {
	if o.Ending.Partial() || old.Ending.Partial() {
		return
	}
	if old.EndingFlaky() {
		for _, e := range append(slices.Clone(old.Others), old.Ending) {
			o.addEnding(e)
		}
		o.AnyExit = o.AnyExit || old.AnyExit
	}
	o.Parts = slices.Clone(o.Parts)
	for i := range old.Parts {
		if p := &old.Parts[i]; p.Flaky {
			o.keepMark(p)
		}
	}
}

// keepMark takes over the marks of a part of old.
func (o *Outcome) keepMark(old *Part) {
	at, found := o.find(old.Key)
	if !found {
		o.Parts = slices.Insert(o.Parts, at, Part{Key: old.Key, Flaky: true, Seen: ShapesOf(Absent)})
	}
	p := &o.Parts[at]
	p.Seen, p.Flaky = p.shapes()|old.Seen, true
	contents := append(slices.Clone(old.Variants), Variant{old.Form, old.Exec, old.Size, old.Digest})
	for _, v := range contents {
		if one := v.As(p.Key); one.Digest != (Digest{}) {
			p.addRun(&one)
		}
	}
}
