package analyse

import (
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
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
