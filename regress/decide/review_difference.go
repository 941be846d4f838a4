package decide

import (
	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/review"
)

// oldSide returns the side of a case that it is compared with, nil if the store does not have it.
func oldSide(s *golden.Store, caseName string) (*content.Side, error) {
	rec, known, err := s.Get(caseName)
	if err != nil || !known {
		return nil, err
	}
	return &content.Side{Outcome: &rec.Outcome, Open: s.Content}, nil
}

// newSide returns the side of a case that the run kept, nil if it kept none.
func newSide(s *golden.Store, caseName string) (*content.Side, error) {
	is, err := oldSide(s, caseName)
	if err != nil || is == nil {
		return nil, err
	}
	*is = content.KeptSide(is.Outcome, s.Content)
	return is, nil
}

// describer describes the difference of a case, under the rules of the run, with its edits.
type describer struct {
	rules normalize.Rules
	found *cause.Found
}

// describe adds the parts in which a case differs in both stores: the golden, and the outcomes that
// the run kept.
func (b describer) describe(d *review.Difference, caseName string, base, kept *golden.Store) error {
	was, err := oldSide(base, caseName)
	if err != nil {
		return err
	}
	is, err := newSide(kept, caseName)
	if err != nil {
		return err
	}
	return b.compareSides(d, caseName, was, is)
}

// compareSides adds the parts in which both sides differ. A side is nil if its store lacks the case.
func (b describer) compareSides(d *review.Difference, caseName string, was, is *content.Side) error {
	var c outcome.Comparison
	switch {
	case was == nil && is == nil:
		d.Why = "neither the golden nor the run has it"
		return nil
	case was == nil:
		d.Ending = is.Outcome.Ending.String()
		for i := range is.Outcome.Parts {
			if p := &is.Outcome.Parts[i]; p.Form != outcome.Ignored {
				c.Parts = append(c.Parts, outcome.Difference{Key: p.Key, Now: p})
			}
		}
		was = &content.Side{Outcome: &outcome.Outcome{}, Open: is.Open}
	case is == nil:
		for i := range was.Outcome.Parts {
			if p := &was.Outcome.Parts[i]; p.Form != outcome.Ignored {
				c.Parts = append(c.Parts, outcome.Difference{Key: p.Key, Old: p})
			}
		}
		is = &content.Side{Outcome: &outcome.Outcome{}, Open: was.Open}
	default:
		if err := b.compare(d, &c, *was, *is); err != nil {
			return err
		}
	}
	for _, p := range c.Parts {
		part, err := b.describePart(caseName, p, *was, *is)
		if err != nil {
			return err
		}
		d.Parts = append(d.Parts, part)
	}
	return nil
}

// compare finds the parts in which both sides differ. It adds flaky parts only if nothing else
// differs.
func (b describer) compare(d *review.Difference, c *outcome.Comparison, was, is content.Side) (err error) {
	if *c, err = outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(b.rules, was, is)); err != nil {
		return err
	}
	if c.EndingDiffers {
		d.Ending = was.Outcome.Ending.String() + " → " + is.Outcome.Ending.String()
	}
	if !c.Identical() {
		return nil
	}
	if *c, err = outcome.Compare(was.Outcome.Kept(), is.Outcome, nil); err != nil {
		return err
	}
	if c.Identical() {
		d.Why = "the golden has this outcome by now"
	} else {
		d.Why = "flaky: this differs from run to run, and is not compared"
	}
	return nil
}

func (b describer) describePart(caseName string, p outcome.Difference, was, is content.Side) (part review.Part, err error) {
	old, err := analyse.PartWords(was, p.Old)
	if err != nil {
		return part, err
	}
	now, err := analyse.PartWords(is, p.Now)
	if err != nil {
		return part, err
	}
	part = review.Part{Name: name.Print(outcome.PartName(p.Key)), Words: old + " → " + now}
	if part.Old, part.Now, err = content.Texts(b.rules, was, is, p.Old, p.Now); err != nil {
		return part, err
	}
	if m, known := b.found.Member(caseName); known {
		for _, e := range m.Parts {
			if e.Key == p.Key {
				part.Edits = e.Edits
			}
		}
	}
	return part, nil
}
