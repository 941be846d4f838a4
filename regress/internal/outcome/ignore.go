package outcome

import "slices"

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
	for i := range old.Parts {
		if k := old.Parts[i].Key; match(k) {
			o.addIgnored(k)
		}
	}
}

// addIgnored makes the part with that key Ignored, and adds it if o lacks it. The parts of o
// may be shared with another outcome.
func (o *Outcome) addIgnored(k Key) {
	at, found := o.find(k)
	if found && o.Parts[at].Form == Ignored {
		return
	}
	o.Parts = slices.Clone(o.Parts)
	if !found {
		o.Parts = slices.Insert(o.Parts, at, Part{})
	}
	o.Parts[at] = Part{Key: k, Form: Ignored}
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
