package analyse

import (
	"fmt"

	"muster/internal/readable"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/preview"
	"muster/regress/internal/report"
)

// describe describes a case that differs for package cause, with rewritten contents. size is the
// size of its source.
func describe(rules normalize.Rules, caseName string, size int64, was, is content.Side, c outcome.Comparison) (d cause.Case, err error) {
	d = cause.Case{Name: caseName, Size: size, Old: was.Outcome.Ending, Now: is.Outcome.Ending}
	for _, p := range c.Parts {
		part := cause.Part{Key: p.Key, Old: p.Old, Now: p.Now}
		if part.OldText, part.NowText, err = content.Texts(rules, was, is, p.Old, p.Now); err != nil {
			return d, err
		}
		d.Parts = append(d.Parts, part)
	}
	if !c.EndingDiffers {
		d.Now = d.Old // several known endings may differ
		return d, nil
	}
	if d.OldMessages, err = endingText(rules, was); err != nil {
		return d, err
	}
	d.NowMessages, err = endingText(rules, is)
	return d, err
}

// endingText returns what explains an ending: the text of endingPart.
func endingText(rules normalize.Rules, s content.Side) ([]byte, error) {
	return content.Shown(rules, s.Open, endingPart(s))
}

// endingPart returns the stderr of a tool, or its stdout if stderr is empty, or nil if both are.
func endingPart(s content.Side) *outcome.Part {
	for _, place := range []outcome.Place{outcome.Stderr, outcome.Stdout} {
		if p, known := s.Outcome.Part(outcome.Key{Place: place}); known && p.Size > 0 {
			return &p
		}
	}
	return nil
}

// A case with more differing parts than this is described by its first ones.
const partsMax = 8

// Differences describes a comparison for reports, bounded, with rewritten contents. The ending comes first. more is
// the number of differing parts that it leaves out.
func Differences(rules normalize.Rules, old, now content.Side, c outcome.Comparison) (list []report.Difference, more int, err error) {
	if c.EndingDiffers {
		list = append(list, report.Difference{Part: outcome.EndingPart, Old: old.Outcome.Ending.String(), Now: now.Outcome.Ending.String()})
	}
	for i, p := range c.Parts {
		if i == partsMax {
			return list, len(c.Parts) - i, nil
		}
		d, err := describePart(rules, old, now, p)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", readable.Line(d.Part), err)
		}
		list = append(list, d)
	}
	return list, 0, nil
}

func describePart(rules normalize.Rules, old, now content.Side, p outcome.Difference) (d report.Difference, err error) {
	d.Part = outcome.PartName(p.Key)
	if d.Old, err = PartWords(old, p.Old); err != nil {
		return d, err
	}
	if d.Now, err = PartWords(now, p.Now); err != nil {
		return d, err
	}
	if p.Old == nil || p.Now == nil || p.Old.Form != outcome.Regular || p.Now.Form != outcome.Regular {
		return d, nil
	}
	a, b, err := content.Texts(rules, old, now, p.Old, p.Now)
	if err != nil {
		return d, err
	}
	d.Diff, d.Hidden, d.Binary = diff.Unified(a, b, diff.Limits{})
	if d.Binary && len(a) <= preview.BytesMax && len(b) <= preview.BytesMax {
		old, now := old.Afresh(), now.Afresh() // an event holds no contents
		d.Contents = func() (a, b []byte, err error) { return content.Texts(rules, old, now, p.Old, p.Now) }
	}
	return d, nil
}

// PartWords describes a part of a side in a few words, by its raw content. A nil part is absent.
func PartWords(s content.Side, p *outcome.Part) (string, error) {
	switch {
	case p == nil:
		return "absent", nil
	case p.Form == outcome.Gone:
		return "removed", nil
	case p.Form == outcome.Ignored:
		return "ignored", nil
	case p.Form == outcome.Symlink:
		target, err := content.Shown(nil, s.Open, p)
		return "link to " + readable.Line(string(target)), err
	case p.Place != outcome.File && p.Size == 0:
		return "empty", nil
	case p.Place != outcome.File:
		return readable.Count(p.Size, "byte"), nil
	case p.Exec:
		return "executable file of " + readable.Count(p.Size, "byte"), nil
	}
	return "file of " + readable.Count(p.Size, "byte"), nil
}

// A SidesOf function returns both sides of a case that differed.
type SidesOf func(caseName string) (was, is content.Side, err error)

// RunSides returns both sides of a case that differed in a past run. base has the golden's
// outcome, and found the candidate's.
func RunSides(base, found *golden.Store, caseName string) (was, is content.Side, err error) {
	was, is, err = StoredSides(base, found, caseName)
	if err == nil {
		is = content.KeptSide(is.Outcome, is.Open)
	}
	return was, is, err
}

// StoredSides returns both sides of a case from two stores.
func StoredSides(old, now *golden.Store, caseName string) (was, is content.Side, err error) {
	a, _, err := old.Get(caseName)
	if err != nil {
		return was, is, err
	}
	b, _, err := now.Get(caseName)
	b.Outcome.Settle(&a.Outcome)
	return content.NewSide(&a.Outcome, old.Content).Cached(), content.NewSide(&b.Outcome, now.Content).Cached(), err
}

// partOf returns a part of a side, or nil if its kept run did not leave the part.
func partOf(s content.Side, k outcome.Key) *outcome.Part {
	p, known := s.Outcome.Part(k)
	if !known || !p.Left() {
		return nil
	}
	return &p
}
