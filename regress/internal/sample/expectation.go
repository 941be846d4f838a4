package sample

import (
	"context"

	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
)

// Expectation is the outcome that a command gave for a finished case.
type Expectation struct {
	Task    pass.Task
	Command *exec.Command
	Was     outcome.Outcome
	Open    content.Opener
	Kept    *keep.Store // of the sample, for the command's new runs
	// Stable reports that the outcome does not vary. Otherwise a part may differ if it also
	// varies among the new runs.
	Stable bool
	// Compare compares a run with what the resumed run compares it with.
	Compare func(*exec.Result) (keep.Likeness, error)
}

// IsMet reports whether a command still gives the expected outcome. One of the new runs must give
// it, or all differences must lie in parts that vary among the new runs.
func (s *Sample) IsMet(ctx context.Context, e Expectation) (bool, error) {
	for n := range 1 + s.o.Retries {
		// The first run of a case that does not vary says nothing new if it is as before.
		same, err := s.IsMetOnce(ctx, e, n == 0 && (e.Stable || !e.Was.Flaky()))
		if err != nil || same {
			return same, err
		}
	}
	if e.Stable {
		return false, nil
	}
	rec, _, err := e.Kept.Get(e.Task.Entry.Name)
	if err != nil {
		return false, err
	}
	cmp, err := outcome.Compare(&e.Was, &rec.Outcome, s.o.Comparer.Same(e.Open, e.Kept.Content))
	return cmp.Identical(), err
}

// IsMetOnce makes a new run, and reports whether it gives the expected outcome. A run that a limit
// ended does if the same limit ended an earlier run. The sample keeps the run, unless plain is set
// and the run is as expected.
func (s *Sample) IsMetOnce(ctx context.Context, e Expectation, plain bool) (same bool, err error) {
	r, err := s.RunOnce(ctx, e.Task, e.Command)
	if err != nil {
		return false, err
	}
	defer r.Release()
	is, err := keep.Compare(&e.Was, &r.Outcome, s.o.Comparer.Same(e.Open, r.Open))
	if same = is != keep.Unlike; err != nil || same && plain {
		return same, err
	}
	l, err := e.Compare(r)
	if err != nil {
		return false, err
	}
	return same, s.Keep(ctx, e.Kept, e.Task.Entry.Name, r, l)
}
