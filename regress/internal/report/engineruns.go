package report

import (
	"cmp"
	"slices"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/outcome"
)

// EngineRuns is what all runs on an engine came to.
type EngineRuns struct {
	Cached   int `line:"cached"`   // the engine knew what comes of it
	Executed int `line:"executed"` // of which is all that follows
	Jobs     int `line:"jobs"`     // that were asked for at once, at most

	Sent     int64 `line:"sent_bytes"`     // bytes, as they went over the network
	Received int64 `line:"received_bytes"` // likewise

	Asked      time.Duration `line:"asked_ms"`                 // from asking for each until its result was here, together
	Queued     time.Duration `line:"queues_ms" v1:"queued_ms"` // of that until a worker took it, together
	QueuesTold int           `line:"queues_told"`              // runs of which the engine said so
	QueueLeast time.Duration `line:"queue_least_ms"`           // of those, the shortest
	Took       time.Duration `line:"took_ms"`                  // the commands alone, together
	Span       time.Duration `line:"span_ms"`                  // from when the first was asked for to the last result

	Workers []Worker   `line:"worker_runs" v1:"workers"` // by their runs' time together, the longest first; those that were named
	Longest LongestRun `line:"longest,null"`
}

// Worker is what one worker did of a run.
type Worker struct {
	Name string        `line:"name,name"`
	Runs int           `line:"runs"`
	Took time.Duration `line:"took_ms"` // together
}

// LongestRun is the run that took longest.
type LongestRun struct {
	Name   string        `line:"name,name"`
	Worker string        `line:"worker,name"`
	Took   time.Duration `line:"took_ms"`
}

// EngineSum adds runs up. One goroutine uses it.
type EngineSum struct {
	runs        EngineRuns
	workers     map[string]*Worker
	first, last time.Time
}

// workersMax bounds how many workers are told apart.
const workersMax = 10_000

// Add counts a run that ended at a time.
func (e *EngineSum) Add(caseName string, r *outcome.EngineRun, at time.Time) {
	if r.Cached {
		e.runs.Cached++
		return
	}
	e.runs.Executed++
	e.runs.Asked += r.Asked
	e.runs.Took += r.Took
	if r.QueueTold {
		if e.runs.QueuesTold++; e.runs.QueuesTold == 1 || r.Queued < e.runs.QueueLeast {
			e.runs.QueueLeast = r.Queued
		}
		e.runs.Queued += r.Queued
	}
	if r.Took > e.runs.Longest.Took {
		e.runs.Longest = LongestRun{caseName, r.Worker, r.Took}
	}
	if began := at.Add(-r.Asked); e.first.IsZero() || began.Before(e.first) {
		e.first = began
	}
	if at.After(e.last) {
		e.last = at
	}
	e.addTo(r)
}

func (e *EngineSum) addTo(r *outcome.EngineRun) {
	w := e.workers[r.Worker]
	if w == nil {
		if r.Worker == "" || len(e.workers) >= workersMax {
			return
		}
		if e.workers == nil {
			e.workers = map[string]*Worker{}
		}
		w = &Worker{Name: r.Worker}
		e.workers[r.Worker] = w
	}
	w.Runs++
	w.Took += r.Took
}

// Runs is what it came to.
func (e *EngineSum) Runs() *EngineRuns {
	r := e.runs
	r.Span = e.last.Sub(e.first)
	for _, w := range e.workers {
		r.Workers = append(r.Workers, *w)
	}
	slices.SortFunc(r.Workers, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Name, b.Name))
	})
	return &r
}

func (w Worker) mean() time.Duration { return w.Took / time.Duration(max(1, w.Runs)) }

// workerRunsMin is from how many runs on the mean of a worker says something of it.
const workerRunsMin = 5

// slowest is the worker whose runs took longest in the mean; false where there are none to
// compare.
func (r *EngineRuns) slowest() (slow Worker, ok bool) {
	compared := 0
	for _, w := range r.Workers {
		if w.Runs < workerRunsMin {
			continue
		}
		if compared++; compared == 1 || w.mean() > slow.mean() {
			slow = w
		}
	}
	return slow, compared > 1
}

// mean is what one run has of a sum.
func (r *EngineRuns) mean(sum time.Duration) time.Duration {
	return sum / time.Duration(max(1, r.Executed))
}

// atOnce is how many runs were asked for at once, and how many commands ran, in the mean.
func (r *EngineRuns) atOnce() (asked, running float64) {
	if r.Span <= 0 {
		return 0, 0
	}
	return float64(r.Asked) / float64(r.Span), float64(r.Took) / float64(r.Span)
}

// What it takes to judge whether the engine or muster is the narrow place.
const (
	judgedRunsMin = 20
	judgedFull    = 0.7  // of what may be asked for at once was, in the mean
	idleShare     = 0.25 // of the time at work, in which runs may wait all the same
)

// advice says whether more workers would help, or asking for more; "" = neither is clear.
// What the shortest wait has is the way there and back, for all of them.
func (r *EngineRuns) advice() string {
	asked, _ := r.atOnce()
	queued := r.Queued - time.Duration(r.QueuesTold)*r.QueueLeast
	atWork := r.Asked - queued
	switch {
	case r.Executed < judgedRunsMin || r.QueuesTold < r.Executed:
		return ""
	case queued > atWork:
		return "more workers would make it faster, a larger --remote-jobs would not"
	case asked >= judgedFull*float64(r.Jobs) && r.Jobs > 0 && float64(queued) < idleShare*float64(atWork):
		return "a larger --remote-jobs than " + readable.Number(r.Jobs) + " may make it faster"
	}
	return ""
}
