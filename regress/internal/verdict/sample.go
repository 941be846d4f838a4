package verdict

import (
	"context"

	"muster/regress/internal/exec"
	"muster/regress/internal/keep"
	"muster/regress/internal/pass"
	"muster/regress/internal/sample"
	"muster/regress/internal/state"
)

// FinishedCases are the cases that an interrupted run finished. A Sample of them runs again before
// the run is resumed.
type FinishedCases struct {
	Judge   *Judge
	Numbers RunNumbers
	Done    map[string]state.Line // by the name of the case
	Command func(caseName string) *exec.Command
	Sample  *sample.Sample
}

// Repeat runs a sample of the finished cases among all tasks again. It refuses to resume if one has
// another outcome now. If no case is left to run, outcomes of two tools cannot mix, and Repeat does
// nothing.
func (f *FinishedCases) Repeat(ctx context.Context, all []pass.Task) error {
	var finished []pass.Task
	left := false
	for _, t := range all {
		line, ok := f.Done[t.Entry.Name]
		left = left || !ok || !line.Identical || f.Numbers.Identical > 1
		if ok {
			finished = append(finished, t)
		}
	}
	if !left {
		return nil
	}
	return f.Sample.Repeat(ctx, finished, f.isAsBefore, f.join)
}

// isAsBefore reports whether a finished case still has its outcome. An identical case must equal
// the golden, or a run of the reference beside it.
func (f *FinishedCases) isAsBefore(ctx context.Context, t pass.Task) (same bool, err error) {
	identical := f.Done[t.Entry.Name].Identical
	if identical && f.Judge.Reference != nil {
		for n := 0; n <= f.Numbers.Retries && err == nil && !same; n++ {
			same, err = f.meetsReference(ctx, t)
		}
		return same, err
	}
	expected, err := f.expectations(t, identical)
	for same = true; err == nil && same && len(expected) > 0; expected = expected[1:] {
		same, err = f.Sample.IsMet(ctx, expected[0])
	}
	return same, err
}

// expectations returns the outcomes of a finished case: that of a reference beside the
// candidate, and that of the candidate.
func (f *FinishedCases) expectations(t pass.Task, identical bool) (list []sample.Expectation, err error) {
	name, judge := t.Entry.Name, f.Judge
	candidate := sample.Expectation{Task: t, Command: f.Command(name), Kept: f.Sample.Candidate, Stable: identical}
	candidate.Compare = func(r *exec.Result) (keep.Likeness, error) {
		l, _, err := judge.Compare(name, r)
		return l, err
	}
	if identical {
		old, _, err := judge.Baseline.Get(name)
		old.Outcome.Ignore(judge.Ignored.Match)
		candidate.Was, candidate.Open = old.Outcome, judge.Baseline.Content
		return []sample.Expectation{candidate}, err
	}
	is, stored, err := judge.Stored(name)
	if err != nil || !stored {
		return nil, err // it runs again in any case
	}
	candidate.Was, candidate.Open = is.Outcome, judge.Found.Content
	if judge.Reference == nil {
		return []sample.Expectation{candidate}, nil
	}
	was, _, err := judge.Reference.Get(name)
	if err != nil {
		return nil, err
	}
	beside := sample.Expectation{Task: t, Command: judge.Reference.Command, Was: was.Outcome, Open: judge.Reference.Content, Kept: f.Sample.Reference}
	beside.Compare = func(*exec.Result) (keep.Likeness, error) { return keep.Unmatched, nil }
	return []sample.Expectation{beside, candidate}, nil
}

// meetsReference runs the reference once, and the candidate beside it.
func (f *FinishedCases) meetsReference(ctx context.Context, t pass.Task) (same bool, err error) {
	r, err := f.Sample.RunOnce(ctx, t, f.Judge.Reference.Command)
	if err != nil {
		return false, err
	}
	defer r.Release()
	e := sample.Expectation{Task: t, Command: f.Command(t.Entry.Name), Was: r.Outcome, Open: r.Open, Kept: f.Sample.Candidate, Stable: true}
	e.Compare = func(now *exec.Result) (keep.Likeness, error) {
		if err := f.Sample.Keep(ctx, f.Sample.Reference, t.Entry.Name, r, keep.Unmatched); err != nil {
			return keep.Unlike, err
		}
		return keep.Compare(&r.Outcome, &now.Outcome, f.Judge.Comparer.Same(r.Open, now.Open))
	}
	return f.Sample.IsMetOnce(ctx, e, true)
}

// join adds the sample's runs of a case that varies to what is stored of it. An identical case had
// an equal run, which is not stored.
func (f *FinishedCases) join(ctx context.Context, name string) error {
	base, found, same := f.Judge.Baseline, f.Judge.Found, f.Judge.Comparer.Same
	if f.Judge.Reference != nil {
		if err := f.Judge.Reference.Join(ctx, f.Sample.Reference, name, same); err != nil {
			return err
		}
	}
	rec, varies, err := f.Sample.Candidate.Get(name)
	if err != nil || !varies {
		return err
	}
	_, stored, err := found.Get(name)
	if err != nil {
		return err
	}
	if stored {
		return found.Join(ctx, f.Sample.Candidate, name, same)
	}
	old, _, err := base.Get(name)
	if err != nil {
		return err
	}
	return found.PutAfter(ctx, rec, f.Sample.Candidate.Content, 1, keep.Equalled{Outcome: &old.Outcome, Open: base.Content, Same: same})
}
