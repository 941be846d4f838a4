package regress

import (
	"context"

	"muster/regress/internal/exec"
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
	return c.repeatSample(ctx, finished, retries, func(ctx context.Context, t task) (runs []newRuns, same bool, err error) {
		expected, runs, err := c.expectations(ctx, t, done[t.entry.Name].Identical)
		for same = true; err == nil && same && len(expected) > 0; expected = expected[1:] {
			var found newRuns
			found, same, err = c.meets(ctx, expected[0], retries)
			runs = append(runs, found)
		}
		return runs, same, err
	})
}

// expectations returns the outcomes of a finished case: that of the candidate, and that of a
// reference beside it. An identical case must equal the golden, or a new run of the
// reference, which expectations returns for release.
func (c *checking) expectations(ctx context.Context, t task, identical bool) (list []expectation, runs []newRuns, err error) {
	name := t.entry.Name
	candidate := c.command.For(name)
	reference, kept := c.base.beside()
	further := furtherRuns{c: c, first: firstRun{task: t, alike: identical}}
	further.equal = further.first.equal()
	if identical && reference != nil {
		r, err := c.runUnjudged(ctx, t, reference)
		if err != nil {
			return nil, nil, err
		}
		keep := func(ctx context.Context, now *exec.Result) error {
			_, stored, err := kept.get(name)
			if err == nil && !stored {
				err = kept.put(ctx, name, r, unmatched)
			}
			if err != nil {
				return err
			}
			return further.compare(ctx, now)
		}
		return []expectation{{t, candidate, r.Outcome, r.Open, true, keep}}, []newRuns{{results: []*exec.Result{r}}}, nil
	}
	if identical {
		old, _, err := c.base.get(name)
		return []expectation{{t, candidate, old.Outcome, c.base.content, true, further.compare}}, nil, err
	}
	is, stored, err := c.found.get(name)
	if err != nil || !stored {
		return nil, nil, err // it runs again in any case
	}
	list = append(list, expectation{t, candidate, is.Outcome, c.found.content, false, further.compare})
	if reference != nil {
		was, stored, err := kept.get(name)
		if err != nil || !stored {
			return nil, nil, err
		}
		keep := func(ctx context.Context, r *exec.Result) error { return kept.merge(ctx, name, r, unmatched, c.same) }
		list = append(list, expectation{t, reference, was.Outcome, kept.content, false, keep})
	}
	return list, nil, nil
}
