package record

import (
	"time"

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
	engine engineRun      // an engine's account of the first run; none if it ran on this machine, or before --resume
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

// engineRun is an outcome.EngineRun with a number instead of the worker's name.
type engineRun struct {
	queued, took, asked          time.Duration
	worker                       uint32 // one more than its index in engineRuns.workers; 0 for no account
	cached, queueKnown, measured bool
}

// engineRuns packs the accounts of an engine, and has the names of its workers. One goroutine at a time uses it.
type engineRuns struct {
	workers []string
	numbers map[string]uint32 // of the workers, by their names
}

func (e *engineRuns) pack(r *outcome.EngineRun) engineRun {
	if r == nil {
		return engineRun{}
	}
	number, known := e.numbers[r.Worker]
	if !known {
		e.workers = append(e.workers, r.Worker)
		number = uint32(len(e.workers))
		e.numbers[r.Worker] = number
	}
	return engineRun{
		queued: r.Queued, took: r.Took, asked: r.Asked, worker: number,
		cached: r.Cached, queueKnown: r.QueueKnown, measured: r.Measured,
	}
}

func (e *engineRuns) unpack(p engineRun) *outcome.EngineRun {
	if p.worker == 0 {
		return nil
	}
	return &outcome.EngineRun{
		Cached: p.cached, Worker: e.workers[p.worker-1], Queued: p.queued, QueueKnown: p.queueKnown,
		Took: p.took, Measured: p.measured, Asked: p.asked,
	}
}
