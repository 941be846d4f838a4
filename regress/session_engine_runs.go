package regress

import (
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/name"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// remoteOf is what the engine said of a run; nil of one on this machine.
func remoteOf(r *exec.Result) *report.Remote {
	if r.Remote == nil {
		return nil
	}
	return (*report.Remote)(r.Remote)
}

// count counts a run. Any goroutine may call it.
func (e *engine) count(t task, r *exec.Result) {
	if e == nil || r == nil {
		return
	}
	e.telling.Lock()
	defer e.telling.Unlock()
	e.runs.Add(t.entry.Name, remoteOf(r), time.Now())
}

// sum is what all runs came to, of which so many were asked for at once.
func (e *engine) sum(jobs int) *report.Runs {
	e.telling.Lock()
	defer e.telling.Unlock()
	r := e.runs.Runs()
	r.Jobs = jobs
	r.Sent, r.Received = e.conn.Traffic()
	return r
}

// keptRemote is the same as --resume finds it.
func keptRemote(r *report.Remote) *state.Remote {
	if r == nil {
		return nil
	}
	return &state.Remote{
		Cached: r.Cached, Worker: name.Print(r.Worker), Queued: int64(r.Queued), QueueTold: r.QueueTold, Ran: int64(r.Ran),
		Measured: r.Measured, Asked: int64(r.Asked),
	}
}

func remoteIn(r *state.Remote) *report.Remote {
	if r == nil {
		return nil
	}
	worker, err := name.Parse(r.Worker)
	if err != nil {
		worker = r.Worker
	}
	return &report.Remote{
		Cached: r.Cached, Worker: worker, Queued: time.Duration(r.Queued), QueueTold: r.QueueTold, Ran: time.Duration(r.Ran),
		Measured: r.Measured, Asked: time.Duration(r.Asked),
	}
}
