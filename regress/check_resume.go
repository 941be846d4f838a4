package regress

import (
	"context"

	"muster/regress/internal/state"
)

// repeatFinished runs a sample of the finished cases again, and refuses to resume if one has
// another outcome now. If no case is left to run, outcomes of two tools cannot mix, and
// repeatFinished does nothing.
func (c *checking) repeatFinished(ctx context.Context, done map[string]state.Line) error {
	var finished []task
	left := false
	for _, t := range c.all() {
		line, ok := done[t.entry.Name]
		left = left || !ok || !line.Identical || c.o.Judge.Runs > 1
		if ok {
			finished = append(finished, t)
		}
	}
	if !left {
		return nil
	}
	retries := c.o.Judge.Retries
	return c.repeatSample(ctx, finished, retries, func(ctx context.Context, t task) (bool, error) {
		expected, release, err := c.expectations(ctx, t, done[t.entry.Name].Identical)
		if err != nil {
			return false, err
		}
		defer release()
		for _, e := range expected {
			if ok, err := c.meets(ctx, e, retries); err != nil || !ok {
				return ok, err
			}
		}
		return true, nil
	})
}

// expectations returns the outcomes of a finished case: that of the candidate, and that of a
// reference beside it. An identical case must equal the golden, or a new run of the
// reference.
func (c *checking) expectations(ctx context.Context, t task, identical bool) (list []expectation, release func(), err error) {
	candidate, release := c.command.For(t.entry.Name), func() {}
	reference, kept := c.base.beside()
	if identical && reference != nil {
		r, err := c.runUnjudged(ctx, t, reference)
		if err != nil {
			return nil, release, err
		}
		return []expectation{{t, candidate, r.Outcome, r.Open, true}}, r.Release, nil
	}
	if identical {
		old, _, err := c.base.get(t.entry.Name)
		return []expectation{{t, candidate, old.Outcome, c.base.content, true}}, release, err
	}
	is, stored, err := c.found.get(t.entry.Name)
	if err != nil || !stored {
		return nil, release, err // it runs again in any case
	}
	list = append(list, expectation{t, candidate, is.Outcome, c.found.content, false})
	if reference != nil {
		was, stored, err := kept.get(t.entry.Name)
		if err != nil || !stored {
			return nil, release, err
		}
		list = append(list, expectation{t, reference, was.Outcome, kept.content, false})
	}
	return list, release, nil
}
