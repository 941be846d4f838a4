package analyse

import (
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// describe describes a case that differs for package cause, with rewritten contents. size is the
// size of its source.
func describe(rules normalize.Rules, caseName string, size int64, v regress.Verdict, was, is content.Side, c outcome.Comparison) (d cause.Case, err error) {
	d = cause.Case{Name: caseName, Size: size, Verdict: v, Old: was.Outcome.Ending, Now: is.Outcome.Ending}
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

// endingText returns the stderr of a tool, or its stdout if stderr is empty. It explains the
// ending.
func endingText(rules normalize.Rules, s content.Side) ([]byte, error) {
	for _, place := range []outcome.Place{outcome.Stderr, outcome.Stdout} {
		p, known := s.Outcome.Part(outcome.Key{Place: place})
		if known && p.Size > 0 {
			return content.Shown(rules, s.Open, &p)
		}
	}
	return nil, nil
}

// Differences describes a comparison for reports, bounded, with rewritten contents.
func Differences(rules normalize.Rules, old, now content.Side, c outcome.Comparison) (list []report.Difference, more int, err error) {
	a, b := reportSide(rules, old), reportSide(rules, now)
	a.Content, b.Content = contentsOf(rules, old, now)
	a.Again, b.Again = contentsOf(rules, old.Afresh(), now.Afresh())
	return report.Differences(c, a, b, diff.Limits{})
}

// contentsOf returns functions that read the parts of each side, with rewrites.
func contentsOf(rules normalize.Rules, old, now content.Side) (a, b func(outcome.Part) ([]byte, error)) {
	a = func(p outcome.Part) ([]byte, error) {
		text, _, err := content.Texts(rules, old, now, &p, partOf(now, p.Key))
		return text, err
	}
	b = func(p outcome.Part) ([]byte, error) {
		_, text, err := content.Texts(rules, old, now, partOf(old, p.Key), &p)
		return text, err
	}
	return a, b
}

// reportSide returns a side in the form of reports, with rewritten contents.
func reportSide(rules normalize.Rules, s content.Side) report.Side {
	return report.Side{
		Ending:  s.Outcome.Ending,
		Content: func(p outcome.Part) ([]byte, error) { return content.Shown(rules, s.Open, &p) },
	}
}

// PartWords describes a part in a few words, by its raw content.
func PartWords(s content.Side, p *outcome.Part) (string, error) { return reportSide(nil, s).Words(p) }

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

// BaseSide returns a function that returns the side of a case in a golden, without the parts that ignored accepts.
func BaseSide(base *golden.Store, ignored func(outcome.Key) bool) func(caseName string) (content.Side, error) {
	return func(caseName string) (content.Side, error) {
		r, _, err := base.Get(caseName)
		r.Outcome.Ignore(ignored)
		return content.NewSide(&r.Outcome, base.Content), err
	}
}

// partOf returns a part of a side, or nil if its kept run did not leave the part.
func partOf(s content.Side, k outcome.Key) *outcome.Part {
	p, known := s.Outcome.Part(k)
	if !known || !p.Left() {
		return nil
	}
	return &p
}
