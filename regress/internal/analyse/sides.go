package analyse

import (
	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// A SidesOf function returns both sides of a case that differed.
type SidesOf func(caseName string) (was, is content.Side, err error)

// RunSides returns both sides of a case that differed in a past run. base has the golden's
// outcome, and found the candidate's.
func RunSides(base, found *golden.Store, caseName string) (was, is content.Side, err error) {
	was, is, err = StoredSides(base, found, caseName)
	return was, content.KeptSide(is.Outcome, is.Open), err
}

// StoredSides returns both sides of a case from two stores.
func StoredSides(old, now *golden.Store, caseName string) (was, is content.Side, err error) {
	a, _, err := old.Get(caseName)
	if err != nil {
		return was, is, err
	}
	b, _, err := now.Get(caseName)
	b.Outcome.Settle(&a.Outcome)
	return content.NewSide(&a.Outcome, content.Cache(old.Content)), content.NewSide(&b.Outcome, content.Cache(now.Content)), err
}

// partOf returns a part of a side, or nil if its kept run did not leave the part.
func partOf(s content.Side, k outcome.Key) *outcome.Part {
	p, known := s.Outcome.Part(k)
	if !known || !p.Left() {
		return nil
	}
	return &p
}
