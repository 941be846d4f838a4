package content

import (
	"bytes"
	"io"
	"slices"

	"muster/regress"
	"muster/regress/internal/hole"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// around compares parts around holes: one part is flaky, and the other one must fit the pattern of
// its texts. Shapes are compared elsewhere.
func around(rules normalize.Rules, s Side, flaky outcome.Part, open Opener, p outcome.Part) (bool, error) {
	if !hasText(p.Form, p.Size) {
		at := slices.IndexFunc(p.Variants, func(v outcome.Variant) bool { return hasText(v.Form, v.Size) })
		if at < 0 {
			return true, nil
		}
		p = p.Variants[at].As(p.Key) // the kept run had none
	}
	if isVariant(flaky, p) {
		return true, nil
	}
	pattern, err := s.patternOf(rules, flaky, p.Form)
	if err != nil || pattern == nil {
		return true, err
	}
	text, err := Shown(rules, open, &p)
	return err == nil && pattern.Fits(text), err
}

// hasText reports whether a part in this form has a text to compare: that of a file or a stream, or
// the target of a link.
func hasText(f outcome.Form, size int64) bool { return f < outcome.Gone && size > 0 }

// isVariant reports whether a run of a flaky part had the content of p.
func isVariant(flaky, p outcome.Part) bool {
	for _, q := range variants(flaky) {
		if q.Form == p.Form && q.Digest == p.Digest {
			return true
		}
	}
	return false
}

// variants returns a flaky part as it was in each run whose content is kept.
func variants(flaky outcome.Part) (list []outcome.Part) {
	if flaky.Digest != (outcome.Digest{}) {
		list = append(list, outcome.Part{Key: flaky.Key, Form: flaky.Form, Exec: flaky.Exec, Size: flaky.Size, Digest: flaky.Digest})
	}
	for _, v := range flaky.Variants {
		list = append(list, v.As(flaky.Key))
	}
	return list
}

// patternOf returns the pattern of the texts that a flaky part had in a form, after the rewrites.
// It returns nil if none is known, as in a golden that was imported, and after outcome.MaskFlaky.
func (s Side) patternOf(rules normalize.Rules, flaky outcome.Part, form outcome.Form) (*hole.Pattern, error) {
	key := patternKey{flaky.Key, form}
	if p, known := s.patterns[key]; known {
		return p, nil
	}
	p, err := s.findPattern(rules, flaky, form)
	if err == nil && s.patterns != nil {
		s.patterns[key] = p
	}
	return p, err
}

func (s Side) findPattern(rules normalize.Rules, flaky outcome.Part, form outcome.Form) (*hole.Pattern, error) {
	if flaky.Seen == outcome.AllShapes && len(flaky.Variants) == 0 {
		return nil, nil
	}
	var texts [][]byte
	for _, p := range variants(flaky) {
		if p.Form != form || !hasText(p.Form, p.Size) {
			continue
		}
		text, err := Shown(rules, s.Open, &p)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil, nil
	}
	return hole.Find(texts...), nil
}

// sizeWithVariants returns the bytes of all contents that are kept of a part.
func sizeWithVariants(p outcome.Part) (sum int64) {
	sum = p.Size
	for _, v := range p.Variants {
		sum += v.Size
	}
	return sum
}

// count adds a flaky part to counts. It reports whether the part varies under the rules: in its
// text or in its shape.
func (s Side) count(h *regress.Holes, rules normalize.Rules, flaky outcome.Part) (varies bool, err error) {
	pattern, err := s.patternOf(rules, flaky, outcome.Regular)
	if err == nil && pattern == nil {
		pattern, err = s.patternOf(rules, flaky, outcome.Symlink)
	}
	if err != nil {
		return false, err
	}
	if flaky.Seen&outcome.ShapesOf(outcome.Absent) != 0 {
		h.Absent++
	}
	switch {
	case pattern == nil && flaky.Seen&outcome.ShapesOf(outcome.Filled, outcome.FilledExec, outcome.Link) != 0:
		h.Whole++ // some run left a text, but none is known
		return true, nil
	case pattern == nil:
		return true, nil
	}
	c := pattern.Count()
	switch {
	case c.IsWhole:
		h.Whole++
	case c.Holes > 0:
		h.Add(regress.Holes{Parts: 1, Lines: c.Holes, AllLines: c.All, Free: c.Free})
	default:
		return len(flaky.Seen.List()) > 1, nil
	}
	return true, nil
}

// HasWideHoles reports whether a part of an outcome has a hole whose extent shows only in many runs:
// one for another order, or for free text. Two runs of a list in random order often end alike.
func HasWideHoles(rules normalize.Rules, s Side) (bool, error) {
	for _, p := range s.Outcome.Parts {
		if !p.Flaky {
			continue
		}
		pattern, err := s.patternOf(rules, p, outcome.Regular)
		if err != nil {
			return false, err
		}
		if pattern != nil && slices.ContainsFunc(pattern.Classes(), func(c hole.Class) bool { return c == hole.Order || c == hole.Free }) {
			return true, nil
		}
	}
	return false, nil
}

// Suggest adds to found the rules of --normalize, as their texts, that make all holes of a class go
// away in a flaky part of an outcome.
func Suggest(rules normalize.Rules, s Side, found map[string]bool) error {
	for _, p := range s.Outcome.Parts {
		if !p.Flaky {
			continue
		}
		pattern, err := s.patternOf(rules, p, outcome.Regular)
		if err != nil {
			return err
		}
		if pattern == nil {
			continue
		}
		for _, c := range pattern.Classes() {
			if err := suggestFor(c, rules, s, p, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// suggestFor adds the first rule that makes the holes of one class go away.
func suggestFor(c hole.Class, rules normalize.Rules, s Side, flaky outcome.Part, found map[string]bool) error {
	for _, text := range c.Rules() {
		works, err := removes(rules, text, s, flaky, c)
		if err != nil {
			return err
		}
		if works {
			found[text] = true
			break
		}
	}
	return nil
}

// removes reports whether a further rule leaves no hole of a class in a flaky part.
func removes(rules normalize.Rules, text string, s Side, flaky outcome.Part, c hole.Class) (bool, error) {
	more, err := normalize.Parse([]string{text})
	if err != nil {
		return false, err
	}
	after, err := Side{Outcome: s.Outcome, Open: s.Open}.patternOf(slices.Concat(rules, more), flaky, outcome.Regular)
	return err == nil && !after.Count().IsWhole && !slices.Contains(after.Classes(), c), err
}

// Texts returns a part of both sides after the rewrites. If one side varies, both have a mark in
// place of each hole that the other one fits. So only what counts differs.
func Texts(rules normalize.Rules, was, is Side, old, now *outcome.Part) (a, b []byte, err error) {
	if a, err = Shown(rules, was.Open, old); err != nil {
		return nil, nil, err
	}
	if b, err = Shown(rules, is.Open, now); err != nil {
		return nil, nil, err
	}
	if old == nil || now == nil || old.Form != outcome.Regular || now.Form != outcome.Regular {
		return a, b, nil
	}
	switch {
	case old.Flaky:
		return was.marked(rules, *old, a, b)
	case now.Flaky:
		b, a, err = is.marked(rules, *now, b, a)
	}
	return a, b, err
}

// marked marks the holes of a flaky part in its text and in another text. If nothing but marks
// would be left, both stay as they are.
func (s Side) marked(rules normalize.Rules, flaky outcome.Part, text, other []byte) (a, b []byte, err error) {
	pattern, err := s.patternOf(rules, flaky, outcome.Regular)
	if err != nil || pattern == nil {
		return text, other, err
	}
	if a, b = pattern.Marked(), pattern.Fill(other); string(a) == string(b) {
		return text, other, nil
	}
	return a, b, nil
}

// KeepHoles carries the holes of a golden outcome over to the outcome o that replaces it. Call it
// after outcome.KeepFlaky. Few runs of a changed tool need not show what varied before: a time in
// seconds, or the order of a list. The texts of the old tool would show it, but also what the
// change rewrote. So o gets its own text with the old contents of the holes that it fits. The
// returned opener also opens these texts.
func KeepHoles(o *outcome.Outcome, open Opener, old Side) (Opener, error) {
	made := map[outcome.Digest][]byte{}
	for i := range o.Parts {
		p := &o.Parts[i]
		if !p.Flaky || !p.Left() || p.Form != outcome.Regular || p.Size == 0 {
			continue
		}
		was, known := old.Outcome.Part(p.Key)
		if !known || !was.Flaky {
			continue
		}
		texts, err := transplanted(open, *p, old, was)
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(p.Variants), func(v outcome.Variant) bool { return isVariant(was, v.As(p.Key)) })
		p.Variants = own[:min(len(own), outcome.VariantsMax-1)]
		for _, text := range texts {
			v := outcome.Variant{Form: outcome.Regular, Exec: p.Exec, Size: int64(len(text)), Digest: outcome.Of(text)}
			if len(p.Variants) < outcome.VariantsMax && !slices.Contains(p.Variants, v) {
				p.Variants = append(p.Variants, v)
				made[v.Digest] = text
			}
		}
	}
	return func(p outcome.Part) (io.ReadCloser, error) {
		if text, known := made[p.Digest]; known {
			return newMemoryReader(text), nil
		}
		return open(p)
	}, nil
}

// transplanted returns the text of a part with the contents of the holes of each text that was has.
// It returns none if was varies as a whole, or if the part fits no hole.
func transplanted(open Opener, p outcome.Part, old Side, was outcome.Part) (list [][]byte, err error) {
	now, err := ReadAll(open, p)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, v := range variants(was) {
		if v.Form != outcome.Regular || v.Size == 0 {
			continue
		}
		text, err := ReadAll(old.Open, v)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	for k := range texts {
		texts[0], texts[k] = texts[k], texts[0]
		if text := hole.Find(texts...).Transplant(now); !bytes.Equal(text, now) {
			list = append(list, text)
		}
	}
	return list, nil
}
