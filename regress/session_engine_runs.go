package regress

import (
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// count counts a run. Any goroutine may call it.
func (e *engine) count(t pass.Task, r *exec.Result) {
	if e == nil || r == nil {
		return
	}
	e.telling.Lock()
	defer e.telling.Unlock()
	e.runs.Add(t.Entry.Name, r.Engine, time.Now())
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
