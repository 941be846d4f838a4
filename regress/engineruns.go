package regress

import (
	"time"
)

// EngineRuns adds up all runs of cases on an engine. Times are by the clock of this machine, or as the
// engine reports them.
type EngineRuns struct {
	Cached   int `line:"cached"`   // runs whose result the engine had already
	Executed int `line:"executed"` // the other runs; the fields below are about them
	Jobs     int `line:"jobs"`     // largest number of runs in progress

	Sent     int64 `line:"sent_bytes"`     // bytes on the network
	Received int64 `line:"received_bytes"` // likewise

	Asked       time.Duration `line:"asked_ms"`                 // sum of the times from the request to the result
	Queued      time.Duration `line:"queues_ms" v1:"queued_ms"` // sum of the times until a worker took the run
	QueuesKnown int           `line:"queues_told"`              // runs whose queue time the engine reports
	QueueLeast  time.Duration `line:"queue_least_ms"`           // the shortest of these times
	Took        time.Duration `line:"took_ms"`                  // sum of the times of the commands alone
	Span        time.Duration `line:"span_ms"`                  // from the first request to the last result

	Workers []Worker   `line:"worker_runs" v1:"workers"` // workers with a name, by Took, longest first
	Longest LongestRun `line:"longest,null"`
}

// Worker adds up the runs on one worker of an engine.
type Worker struct {
	Name string        `line:"name,name"`
	Runs int           `line:"runs"`
	Took time.Duration `line:"took_ms"` // sum
}

// LongestRun is the case with the longest run, by the time of the command.
type LongestRun struct {
	Name   string        `line:"name,name"`
	Worker string        `line:"worker,name"`
	Took   time.Duration `line:"took_ms"`
}

// Mean returns the mean time of a run.
func (w Worker) Mean() time.Duration { return w.Took / time.Duration(max(1, w.Runs)) }

// workerRunsMin is the number of runs that makes the mean of a worker meaningful.
const workerRunsMin = 5

// Slowest returns the worker with the longest mean. ok is false if fewer than two workers have enough
// runs.
func (r *EngineRuns) Slowest() (slow Worker, ok bool) {
	compared := 0
	for _, w := range r.Workers {
		if w.Runs < workerRunsMin {
			continue
		}
		if compared++; compared == 1 || w.Mean() > slow.Mean() {
			slow = w
		}
	}
	return slow, compared > 1
}

// Mean divides a sum by the number of executed runs.
func (r *EngineRuns) Mean(sum time.Duration) time.Duration {
	return sum / time.Duration(max(1, r.Executed))
}

// AtOnce returns the mean number of requests in progress, and of commands that ran.
func (r *EngineRuns) AtOnce() (asked, running float64) {
	if r.Span <= 0 {
		return 0, 0
	}
	return float64(r.Asked) / float64(r.Span), float64(r.Took) / float64(r.Span)
}
