package regress

import (
	"context"

	"muster/regress/internal/exec"
	"muster/regress/internal/keep"
	"muster/regress/internal/pass"
)

// repeatFinished runs a sample of the finished cases again, and refuses to resume if one has
// another outcome now. If all cases have their runs, it does nothing.
func (r *recording) repeatFinished(ctx context.Context) error {
	var finished []pass.Task
	left := false
	for _, t := range r.in.Tasks() {
		runs := r.had[t.Index].runs
		left = left || runs < r.o.Judge.Repeat
		if runs > 0 {
			finished = append(finished, t)
		}
	}
	if !r.resumed || !left {
		return nil
	}
	same := func(ctx context.Context, m *sample, t pass.Task) (bool, error) {
		rec, _, err := r.writer.Get(t.Entry.Name)
		if err != nil {
			return false, err
		}
		e := expectation{task: t, command: r.commands.For(t.Entry.Name), was: rec.Outcome, open: keep.ContentsIn(r.writer), kept: m.candidate}
		e.compare = func(*exec.Result) (keep.Likeness, error) { return keep.Unmatched, nil }
		return m.meets(ctx, e, RetriesDefault)
	}
	join := func(ctx context.Context, m *sample, name string) error {
		rec, _, err := r.writer.Get(name)
		if err != nil {
			return err
		}
		return m.candidate.JoinTo(ctx, r.writer, rec, r.comparer.Same)
	}
	if err := r.repeatSample(ctx, finished, RetriesDefault, r.writer.Meta(), same, join); err != nil {
		return err
	}
	_, err := r.rest() // counts the runs again
	return err
}
