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
