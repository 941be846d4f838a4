package report

import (
	"cmp"
	"slices"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/outcome"
)

// EngineSum adds up runs on an engine. One goroutine uses it.
type EngineSum struct {
	runs        regress.EngineRuns
	workers     map[string]*regress.Worker
	first, last time.Time
}

// workersMax bounds the workers that are counted one by one.
const workersMax = 10_000

// Add counts a run that ended at the given time.
func (e *EngineSum) Add(caseName string, r *outcome.EngineRun, at time.Time) {
	if r.Cached {
		e.runs.Cached++
		return
	}
	e.runs.Executed++
	e.runs.Asked += r.Asked
	e.runs.Took += r.Took
	if r.QueueKnown {
		if e.runs.QueuesKnown++; e.runs.QueuesKnown == 1 || r.Queued < e.runs.QueueLeast {
			e.runs.QueueLeast = r.Queued
		}
		e.runs.Queued += r.Queued
	}
	if r.Took > e.runs.Longest.Took {
		e.runs.Longest = regress.LongestRun{Name: caseName, Worker: r.Worker, Took: r.Took}
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
			e.workers = map[string]*regress.Worker{}
		}
		w = &regress.Worker{Name: r.Worker}
		e.workers[r.Worker] = w
	}
	w.Runs++
	w.Took += r.Took
}

// Runs returns the sum.
func (e *EngineSum) Runs() *regress.EngineRuns {
	r := e.runs
	r.Span = e.last.Sub(e.first)
	for _, w := range e.workers {
		r.Workers = append(r.Workers, *w)
	}
	slices.SortFunc(r.Workers, func(a, b regress.Worker) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Name, b.Name))
	})
	return &r
}

// Bounds for deciding whether the engine or muster is the bottleneck.
const (
	judgedRunsMin = 20
	judgedFull    = 0.7  // mean share of the runs that may be requested at once
	idleShare     = 0.25 // share of the working time for which runs may wait without a shortage of workers
)

// engineAdvice says whether more workers would help, or more requests at once. It returns "" if
// neither is clear. It takes the shortest wait for the network's round trip, which every run
// has.
func engineAdvice(r *regress.EngineRuns) string {
	asked, _ := r.AtOnce()
	queued := r.Queued - time.Duration(r.QueuesKnown)*r.QueueLeast
	atWork := r.Asked - queued
	switch {
	case r.Executed < judgedRunsMin || r.QueuesKnown < r.Executed:
		return ""
	case queued > atWork:
		return "more workers would make it faster, more jobs at once would not"
	case asked >= judgedFull*float64(r.Jobs) && r.Jobs > 0 && float64(queued) < idleShare*float64(atWork):
		return "more jobs at once than " + readable.Number(r.Jobs) + " ([engine] jobs) may make it faster"
	}
	return ""
}
