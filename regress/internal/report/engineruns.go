package report

import (
	"cmp"
	"slices"
	"time"

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
