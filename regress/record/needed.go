package record

import (
	"context"
	"time"

	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
)

// runsOfWide is the number of runs of a case with wide holes. The golden keeps no more texts.
const runsOfWide = 1 + outcome.VariantsMax

// runsNeeded returns how many runs a case needs in all, as far as its runs show.
func runsNeeded(j *job.Job, c content.Comparer, w *golden.Writer, rec *golden.Record) (int, error) {
	repeat := j.Judge.Repeat
	if rec.Runs < repeat || repeat == 1 || !rec.Outcome.Flaky() {
		return repeat, nil
	}
	wide := false
	err := c.Hold(content.Size(&rec.Outcome), func() (err error) {
		wide, err = content.HasWideHoles(j.Rules, content.Side{Outcome: &rec.Outcome, Open: keep.ContentsIn(w)})
		return err
	})
	if err == nil && wide {
		return max(repeat, runsOfWide), nil
	}
	return repeat, err
}

// waitFor waits for a duration, or for the end of ctx.
func waitFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
