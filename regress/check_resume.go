package regress

import (
	"context"

	"muster/regress/internal/exec"
	"muster/regress/internal/keep"
	"muster/regress/internal/pass"
	"muster/regress/internal/state"
)

// repeatFinished runs a sample of the finished cases again, and refuses to resume if one has
// another outcome now. If no case is left to run, outcomes of two tools cannot mix, and
// repeatFinished does nothing.
func (c *checking) repeatFinished(ctx context.Context, done map[string]state.Line) error {
	var finished []pass.Task
	left := false
	for _, t := range c.all() {
		line, ok := done[t.Entry.Name]
		left = left || !ok || !line.Identical || c.o.Judge.Runs > 1
		if ok {
			finished = append(finished, t)
		}
	}
	if !left {
		return nil
	}
	same := func(ctx context.Context, m *sample, t pass.Task) (bool, error) {
		return c.meets(ctx, m, t, done[t.Entry.Name].Identical)
	}
	return c.repeatSample(ctx, finished, c.o.Judge.Retries, c.found.Meta, same, c.joinSample)
}

// meets reports whether a finished case still has its outcome. An identical case must equal
// the golden, or a run of the reference beside it.
func (c *checking) meets(ctx context.Context, m *sample, t pass.Task, identical bool) (same bool, err error) {
	if identical && c.reference != nil {
		for n := 0; n <= c.o.Judge.Retries && err == nil && !same; n++ {
			same, err = c.meetsReference(ctx, m, t)
		}
		return same, err
	}
	expected, err := c.expectations(m, t, identical)
	for same = true; err == nil && same && len(expected) > 0; expected = expected[1:] {
		same, err = m.meets(ctx, expected[0], c.o.Judge.Retries)
	}
	return same, err
}

// expectations returns the outcomes of a finished case: that of a reference beside the
// candidate, and that of the candidate.
func (c *checking) expectations(m *sample, t pass.Task, identical bool) (list []expectation, err error) {
	name := t.Entry.Name
	candidate := expectation{task: t, command: c.commands.For(name), kept: m.candidate, stable: identical}
	candidate.compare = func(r *exec.Result) (keep.Likeness, error) {
		l, _, err := c.compare(name, r)
		return l, err
	}
	if identical {
		old, _, err := c.base.Get(name)
		old.Outcome.Ignore(c.ignored.Match)
		candidate.was, candidate.open = old.Outcome, c.base.Content
		return []expectation{candidate}, err
	}
	is, stored, err := c.found.Get(name)
	if err != nil || !stored {
		return nil, err // it runs again in any case
	}
	candidate.was, candidate.open = is.Outcome, c.found.Content
	if c.reference == nil {
		return []expectation{candidate}, nil
	}
	was, stored, err := c.reference.Get(name)
	if err != nil || !stored {
		return nil, err
	}
	beside := expectation{task: t, command: c.reference.command, was: was.Outcome, open: c.reference.Content, kept: m.reference}
	beside.compare = func(*exec.Result) (keep.Likeness, error) { return keep.Unmatched, nil }
	return []expectation{beside, candidate}, nil
}

// meetsReference runs the reference once, and the candidate beside it.
func (c *checking) meetsReference(ctx context.Context, m *sample, t pass.Task) (same bool, err error) {
	r, err := c.runUnjudged(ctx, t, c.reference.command)
	if err != nil {
		return false, err
	}
	defer r.Release()
	e := expectation{task: t, command: c.commands.For(t.Entry.Name), was: r.Outcome, open: r.Open, kept: m.candidate, stable: true}
	e.compare = func(now *exec.Result) (keep.Likeness, error) {
		if err := m.keep(ctx, m.reference, t.Entry.Name, r, keep.Unmatched); err != nil {
			return keep.Unlike, err
		}
		return keep.Compare(&r.Outcome, &now.Outcome, c.comparer.Same(r.Open, now.Open))
	}
	return m.meets(ctx, e, 0)
}

// joinSample adds the new runs of a case that varies to what is stored of it. An identical
// case had an equal run, which is not stored.
func (c *checking) joinSample(ctx context.Context, m *sample, name string) error {
	if c.reference != nil {
		if err := c.reference.Join(ctx, m.reference, name, c.comparer.Same); err != nil {
			return err
		}
	}
	rec, varies, err := m.candidate.Get(name)
	if err != nil || !varies {
		return err
	}
	_, stored, err := c.found.Get(name)
	if err != nil {
		return err
	}
	if stored {
		return c.found.Join(ctx, m.candidate, name, c.comparer.Same)
	}
	old, _, err := c.base.Get(name)
	if err != nil {
		return err
	}
	return c.found.PutAfter(ctx, rec, m.candidate.Content, 1, keep.Equalled{Outcome: &old.Outcome, Open: c.base.Content, Same: c.comparer.Same})
}
