package report

import (
	"time"

	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// What lines say of an engine. What it did not tell is null.

type wireEngineRun struct {
	Cached   bool    `json:"cached"`
	Worker   printed `json:"worker"`
	Queued   *millis `json:"queued_ms"`
	Took     millis  `json:"took_ms"`
	Measured bool    `json:"measured"`
	Asked    millis  `json:"asked_ms"`
}

func toWireEngineRun(r *outcome.EngineRun) *wireEngineRun {
	if r == nil {
		return nil
	}
	w := &wireEngineRun{Cached: r.Cached, Worker: printed(r.Worker), Took: millis(r.Took), Measured: r.Measured, Asked: millis(r.Asked)}
	if queued := millis(r.Queued); r.QueueTold {
		w.Queued = &queued
	}
	return w
}

func (w *wireEngineRun) engineRun() *outcome.EngineRun {
	if w == nil {
		return nil
	}
	r := &outcome.EngineRun{Cached: w.Cached, Worker: string(w.Worker), Took: w.Took.duration(), Measured: w.Measured, Asked: w.Asked.duration()}
	if w.Queued != nil {
		r.Queued, r.QueueTold = w.Queued.duration(), true
	}
	return r
}

type wireEngine struct {
	Type     string    `json:"type"`
	Command  string    `json:"command"`
	Doing    string    `json:"doing"`
	InFlight int       `json:"asked"`
	Queued   int       `json:"queued"`
	Running  int       `json:"running"`
	Sent     int64     `json:"sent_bytes"`
	Received int64     `json:"received_bytes"`
	At       time.Time `json:"at"`
}

func engineToWire(e Engine) wireEngine {
	return wireEngine{"engine", readable.Text(e.Command), readable.Text(e.Doing), e.InFlight, e.Queued, e.Running, e.Sent, e.Received, e.At.UTC()}
}

func (w wireEngine) event() Event {
	return Engine{w.Command, w.Doing, w.InFlight, w.Queued, w.Running, w.Sent, w.Received, w.At}
}

type wireEngineRuns struct {
	Cached     int          `json:"cached"`
	Executed   int          `json:"executed"`
	Jobs       int          `json:"jobs"`
	Sent       int64        `json:"sent_bytes"`
	Received   int64        `json:"received_bytes"`
	Asked      millis       `json:"asked_ms"`
	Queued     millis       `json:"queued_ms"`
	QueuesTold int          `json:"queues_told"`
	QueueLeast millis       `json:"queue_least_ms"`
	Took       millis       `json:"took_ms"`
	Span       millis       `json:"span_ms"`
	Workers    []wireWorker `json:"workers"`
	Longest    *wireLongest `json:"longest"`
}

type wireWorker struct {
	Name printed `json:"name"`
	Runs int     `json:"runs"`
	Took millis  `json:"took_ms"`
}

type wireLongest struct {
	Name   printed `json:"name"`
	Worker printed `json:"worker"`
	Took   millis  `json:"took_ms"`
}

func toWireEngineRuns(r *EngineRuns) *wireEngineRuns {
	if r == nil {
		return nil
	}
	w := &wireEngineRuns{
		r.Cached, r.Executed, r.Jobs, r.Sent, r.Received, millis(r.Asked), millis(r.Queued), r.QueuesTold, millis(r.QueueLeast), millis(r.Took), millis(r.Span),
		[]wireWorker{}, nil,
	}
	for _, one := range r.Workers {
		w.Workers = append(w.Workers, wireWorker{printed(one.Name), one.Runs, millis(one.Took)})
	}
	if l := r.Longest; l != (LongestRun{}) {
		w.Longest = &wireLongest{printed(l.Name), printed(l.Worker), millis(l.Took)}
	}
	return w
}

func (w *wireEngineRuns) runs() *EngineRuns {
	if w == nil {
		return nil
	}
	r := &EngineRuns{
		Cached: w.Cached, Executed: w.Executed, Jobs: w.Jobs, Sent: w.Sent, Received: w.Received,
		Asked: w.Asked.duration(), Queued: w.Queued.duration(), QueuesTold: w.QueuesTold, QueueLeast: w.QueueLeast.duration(), Took: w.Took.duration(), Span: w.Span.duration(),
	}
	for _, one := range w.Workers {
		r.Workers = append(r.Workers, Worker{string(one.Name), one.Runs, one.Took.duration()})
	}
	if l := w.Longest; l != nil {
		r.Longest = LongestRun{string(l.Name), string(l.Worker), l.Took.duration()}
	}
	return r
}
