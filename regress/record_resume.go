package regress

import (
	"context"

	"muster/regress/internal/exec"
)

// repeatFinished runs a sample of the finished cases again, and refuses to resume if one has
// another outcome now. If all cases have their runs, it does nothing.
func (r *recording) repeatFinished(ctx context.Context) error {
	var finished []task
	left := false
	for _, t := range r.all() {
		runs := r.had[t.index].runs
		left = left || runs < r.o.Judge.Repeat
		if runs > 0 {
			finished = append(finished, t)
		}
	}
	if !r.resumed || !left {
		return nil
	}
	return r.repeatSample(ctx, finished, RetriesDefault, func(ctx context.Context, t task) ([]newRuns, bool, error) {
		rec, _, err := r.writer.Get(t.entry.Name)
		if err != nil {
			return nil, false, err
		}
		e := expectation{task: t, command: r.command.For(t.entry.Name), was: rec.Outcome, open: contentsIn(r.writer)}
		e.keep = func(ctx context.Context, res *exec.Result) error {
			rec.Runs++
			_, err := merge(ctx, r.writer, &rec, res, r.same)
			r.had[t.index] = runsIn(&rec)
			return err
		}
		runs, same, err := r.meets(ctx, e, RetriesDefault)
		return []newRuns{runs}, same, err
	})
}
