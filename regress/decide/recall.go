package decide

import (
	"context"
	"slices"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

// recallMarks returns the run with marks that agree with the golden at a place. It refuses a golden
// that this run cannot be accepted into.
func recallMarks(ctx context.Context, p *pastrun.Past, at place.Place) (*pastrun.Past, error) {
	base, err := at.Open(ctx)
	if err != nil {
		return nil, place.ExplainMissing(p.Options.Store.Golden, err)
	}
	defer base.Close()
	if err := p.Run.CheckGolden(p.Options.Store.Golden, base.Digest(), base.Meta()); err != nil {
		return nil, err
	}
	run, err := compareMarks(p.Run, base)
	return p.WithRun(run), err
}

// compareMarks removes the marks of accepted results that the golden lacks: somebody restored an
// earlier state of it. If accepts of this run changed the golden, compareMarks also adds missing
// marks, because a kill after the golden is written can lose them.
func compareMarks(run *pastrun.Run, base *golden.Store) (*pastrun.Run, error) {
	isOurs := base.Meta().AcceptedRun == run.ID
	if !slices.ContainsFunc(run.Results, func(r state.Result) bool { return r.Accepted || isOurs }) {
		return run, nil
	}
	found, err := run.OpenOutcomes()
	if err != nil {
		return nil, err
	}
	defer found.Close()
	marks := run.Marks()
	for i := range run.Results {
		if r := &run.Results[i]; r.Accepted || isOurs && r.Verdict != regress.EnvironmentFailed {
			if marks[i], err = hasAccepted(base, found, r); err != nil {
				return nil, err
			}
		}
	}
	return run.WithMarks(marks), nil
}

// hasAccepted reports whether the golden has what accepting a result puts into it.
func hasAccepted(base, found *golden.Store, r *state.Result) (bool, error) {
	is, known, err := base.Get(string(r.Name))
	if err != nil || r.Verdict == regress.Missing || !known {
		return !known && r.Verdict == regress.Missing, err
	}
	rec, kept, err := found.Get(string(r.Name))
	if err != nil || !kept {
		return false, err
	}
	rec.Outcome.KeepFlaky(&is.Outcome)
	return rec.Outcome.Digest() == is.Outcome.Digest(), nil
}
