package record

import (
	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
)

// runsBefore is what the next run of a case needs to know of the earlier runs. It saves a read of the golden, which
// would wait for everything that is being written. A run that differs still reads it. Between two passes every case
// has a runsBefore, so it is small: 96 bytes. It has no pointers: the garbage collector would follow them for a
// million cases, and memory that is allocated meanwhile would come on top.
type runsBefore struct {
	runs   int            // that are in the new golden
	digest outcome.Digest // of the outcome in the golden; zero if the golden must be read
	cost   outcome.Cost   // of the first run
	isWide bool           // the runs show wide holes: see runsOfWide
}

func runsIn(r *golden.Record) runsBefore {
	h := runsBefore{runs: r.Runs, cost: r.Cost}
	if !r.Outcome.Ending.Partial() {
		h.digest = r.Outcome.Digest()
	}
	return h
}

// lacks reports whether a case needs more runs, as far as its runs show.
func (h *runsBefore) lacks(repeat int) bool {
	return h.runs < repeat || h.isWide && h.runs < runsOfWide
}

// runsOfWide is the number of runs of a case with wide holes. The golden has no room for the texts of more runs.
const runsOfWide = 1 + outcome.VariantsMax

// hasWideHoles reports whether the runs of a case show wide holes. It looks once the case has the runs of --repeat.
func hasWideHoles(j *job.Job, c content.Comparer, w *golden.Writer, rec *golden.Record) (wide bool, err error) {
	if repeat := j.Judge.Repeat; rec.Runs < repeat || repeat == 1 || !rec.Outcome.Flaky() {
		return false, nil
	}
	err = c.Hold(content.Size(&rec.Outcome), func() (err error) {
		wide, err = content.HasWideHoles(j.Rules, content.Side{Outcome: &rec.Outcome, Open: keep.ContentsIn(w)})
		return err
	})
	return wide, err
}
