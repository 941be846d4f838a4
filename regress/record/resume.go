package record

import (
	"context"

	"muster/regress/internal/exec"
	"muster/regress/internal/keep"
	"muster/regress/internal/opt"
	"muster/regress/internal/pass"
	"muster/regress/internal/run"
	"muster/regress/internal/sample"
)

// repeatFinished runs a sample of the finished cases again, and refuses to resume if one has
// another outcome now. If all cases have their runs, it does nothing.
func (r *recording) repeatFinished(ctx context.Context) error {
	var finished []pass.Task
	left := false
	for _, t := range r.run.Inputs.Tasks() {
		runs := r.had[t.Index].runs
		left = left || runs < r.run.Job.Judge.Repeat
		if runs > 0 {
			finished = append(finished, t)
		}
	}
	if !r.run.Resumed || !left || r.run.Execution.Crew.IsRemote() {
		return nil
	}
	again := run.NewSample(r.run, r.writer.Meta(), opt.RetriesDefault)
	same := func(ctx context.Context, t pass.Task) (bool, error) {
		rec, _, err := r.writer.Get(t.Entry.Name)
		if err != nil {
			return false, err
		}
		return again.IsMet(ctx, sample.Expectation{
			Task: t, Command: r.run.Execution.Commands.For(t.Entry.Name), Was: rec.Outcome, Open: keep.ContentsIn(r.writer), Kept: again.Candidate,
			Compare: func(*exec.Result) (keep.Likeness, error) { return keep.Unmatched, nil },
		})
	}
	join := func(ctx context.Context, caseName string) error {
		rec, _, err := r.writer.Get(caseName)
		if err != nil {
			return err
		}
		return again.Candidate.JoinTo(ctx, r.writer, rec, r.run.Comparer.Same)
	}
	if err := again.Repeat(ctx, finished, same, join); err != nil {
		return err
	}
	_, err := r.rest() // counts the runs again
	return err
}
