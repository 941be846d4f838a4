package regress

import (
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/name"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// engineRunOf is what the engine said of a run; nil of one on this machine.
func engineRunOf(r *exec.Result) *report.EngineRun {
	if r.Engine == nil {
		return nil
	}
	said := r.Engine
	return &report.EngineRun{
		Cached: said.Cached, Worker: said.Worker, Queued: said.Queued, QueueTold: said.QueueTold, Took: said.Took,
		Measured: said.Measured, Asked: said.Asked,
	}
}

// count counts a run. Any goroutine may call it.
func (e *engine) count(t task, r *exec.Result) {
	if e == nil || r == nil {
		return
	}
	e.telling.Lock()
	defer e.telling.Unlock()
	e.runs.Add(t.entry.Name, engineRunOf(r), time.Now())
}

// sum is what all runs came to, of which so many were asked for at once.
func (e *engine) sum(jobs int) *report.EngineRuns {
	e.telling.Lock()
	defer e.telling.Unlock()
	r := e.runs.Runs()
	r.Jobs = jobs
	r.Sent, r.Received = e.conn.Traffic()
	return r
}

// keptEngineRun is the same as --resume finds it.
func keptEngineRun(r *report.EngineRun) *state.EngineRun {
	if r == nil {
		return nil
	}
	return &state.EngineRun{
		Cached: r.Cached, Worker: name.Print(r.Worker), Queued: int64(r.Queued), QueueTold: r.QueueTold, Took: int64(r.Took),
		Measured: r.Measured, Asked: int64(r.Asked),
	}
}

func engineRunIn(r *state.EngineRun) *report.EngineRun {
	if r == nil {
		return nil
	}
	worker, err := name.Parse(r.Worker)
	if err != nil {
		worker = r.Worker
	}
	return &report.EngineRun{
		Cached: r.Cached, Worker: worker, Queued: time.Duration(r.Queued), QueueTold: r.QueueTold, Took: time.Duration(r.Took),
		Measured: r.Measured, Asked: time.Duration(r.Asked),
	}
}
