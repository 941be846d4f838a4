package regress

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/golden"
	"muster/regress/internal/mirror"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// texted keeps the two stores of a run open, from which the contents of its cases are
// read. It is safe for concurrent use.
type texted struct {
	past *past

	mu    sync.Mutex // guards what follows; held while a store is read
	base  *place.Golden
	now   *golden.Store
	stamp string // of the golden when it was opened; empty where it is no file here
	stale bool   // it is to be opened again, whatever its stamp says
	marks marks  // of that golden
}

// marks say which cases of a run are in the golden: as they were kept, and as they are.
type marks struct{ kept, real []bool }

func openTexted(ctx context.Context, p *past) (*texted, error) {
	t := &texted{past: p}
	return t, t.open(ctx)
}

func (t *texted) open(ctx context.Context) (err error) {
	stamp := t.stampNow()
	if t.base, err = t.past.run.OpenBase(ctx); err != nil {
		return err
	}
	if t.now, err = t.past.run.OpenOutcomes(); err != nil {
		return errors.Join(err, t.shut())
	}
	t.stamp, t.stale = stamp, false
	return nil
}

// stampNow is that of the golden, where it is a file of this machine.
func (t *texted) stampNow() string {
	path := t.past.options.Store.Golden
	if t.past.run.Command != report.CheckCommand || mirror.IsAddress(path) {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return err.Error()
	}
	return filestamp.Of(info)
}

func (t *texted) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shut()
}

func (t *texted) shut() (err error) {
	if t.base != nil {
		err = t.base.Close()
	}
	if t.now != nil {
		err = errors.Join(err, t.now.Close())
	}
	t.base, t.now, t.marks = nil, nil, marks{}
	return err
}

// renew has the golden opened again when it is used next: of one at an address nothing else
// tells that it has changed.
func (t *texted) renew() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stale = true
}

// heed does so where somebody else has accepted cases of a run into a golden at an address.
func (t *texted) heed(p *past) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stamp == "" && t.marks.real != nil && !slices.Equal(t.marks.kept, marksOf(p.run.Results)) {
		t.stale = true
	}
}

// recall corrects the marks of a run that was read just now. Both stores are read through
// for that, so it is done once for the golden and the marks as they are.
func (t *texted) recall(p *past, base *golden.Store) error {
	kept := marksOf(p.run.Results)
	if t.marks.real == nil || !slices.Equal(t.marks.kept, kept) {
		if err := p.recall(base); err != nil {
			return err
		}
		t.marks = marks{kept, marksOf(p.run.Results)}
	}
	for i := range p.run.Results {
		p.run.Results[i].Accepted = t.marks.real[i]
	}
	return nil
}

func marksOf(results []state.Result) []bool {
	marks := make([]bool, len(results))
	for i := range results {
		marks[i] = results[i].Accepted
	}
	return marks
}

// use calls f with both stores, as they are by now: a golden that was changed meanwhile
// is opened again.
func (t *texted) use(ctx context.Context, f func(base, now *golden.Store) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil || t.stale || t.stampNow() != t.stamp {
		if err := errors.Join(t.shut(), t.open(ctx)); err != nil {
			return err
		}
	}
	return f(t.base.Store, t.now)
}

// wasIn and isIn return the sides of a case: what it is compared with, and the run of the
// candidate that is kept; nil for none.
func wasIn(s *golden.Store, caseName string) (*content.Side, error) {
	rec, known, err := s.Get(caseName)
	if err != nil || !known {
		return nil, err
	}
	return &content.Side{Outcome: &rec.Outcome, Open: s.Content}, nil
}

func isIn(s *golden.Store, caseName string) (*content.Side, error) {
	is, err := wasIn(s, caseName)
	if err != nil || is == nil {
		return nil, err
	}
	*is = content.KeptSide(is.Outcome, s.Content)
	return is, nil
}

// difference implements review.Desk.Difference.
func (w *reviewed) difference(ctx context.Context, caseName string) (d review.Difference, err error) {
	d.Case = name.Print(caseName)
	if r := w.past.run.Result(caseName); r != nil {
		d.Where = report.EngineWords(r.Engine)
	}
	err = w.texts.use(ctx, func(base, now *golden.Store) error {
		was, err := wasIn(base, caseName)
		if err != nil {
			return err
		}
		is, err := isIn(now, caseName)
		if err != nil {
			return err
		}
		return w.describe(&d, caseName, was, is)
	})
	return d, err
}

// describe fills in what differs in a case.
func (w *reviewed) describe(d *review.Difference, caseName string, was, is *content.Side) error {
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
		if err := w.compare(d, &c, *was, *is); err != nil {
			return err
		}
	}
	for _, p := range c.Parts {
		part, err := w.part(caseName, p, *was, *is)
		if err != nil {
			return err
		}
		d.Parts = append(d.Parts, part)
	}
	return nil
}

// compare finds in what both sides differ. What is flaky is shown where nothing else is.
func (w *reviewed) compare(d *review.Difference, c *outcome.Comparison, was, is content.Side) (err error) {
	if *c, err = outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(w.rules, was.Open, is.Open)); err != nil {
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

func (w *reviewed) part(caseName string, p outcome.Difference, was, is content.Side) (part review.Part, err error) {
	old, err := analyse.PartWords(was, p.Old)
	if err != nil {
		return part, err
	}
	now, err := analyse.PartWords(is, p.Now)
	if err != nil {
		return part, err
	}
	part = review.Part{Name: name.Print(outcome.PartName(p.Key)), Words: old + " → " + now}
	if part.Old, err = content.Shown(w.rules, was.Open, p.Old); err != nil {
		return part, err
	}
	if part.Now, err = content.Shown(w.rules, is.Open, p.Now); err != nil {
		return part, err
	}
	if m, known := w.Found.Member(caseName); known {
		for _, e := range m.Parts {
			if e.Key == p.Key {
				part.Edits = e.Edits
			}
		}
	}
	return part, nil
}
