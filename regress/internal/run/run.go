// Package run prepares and finishes a run: one job over one corpus. Input: the job and the streams of
// the host. Output: the selected cases, an executor for them, the events, and a summary. The state
// folder keeps the run, so that an interrupted run can be resumed.
//
// It must not run a case itself, and it must not decide what the outcome of a case means.
package run

import (
	"errors"
	"time"

	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/job"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Run is a job over a corpus, from its opening to its summary. One goroutine at a time
// uses it. Goroutines that run cases may read the fields that do not change, and emit events.
type Run struct {
	Job   job.Job
	Host  host.Host
	Began time.Time

	State   *state.State
	Folder  *state.Run // of this run; nil before Begin
	Resumed bool       // another process began the run

	Events *Events
	Ledger *Ledger

	Inputs    *Inputs
	Tool      *Tool
	Execution *Execution

	Comparer    content.Comparer
	Differences *analyse.Collector

	unlock func()
}

// Lock locks the state folder until Close.
func (r *Run) Lock() (err error) {
	r.unlock, err = r.State.Lock()
	return err
}

// Close releases everything, however far the run got.
func (r *Run) Close() error {
	err := errors.Join(r.Execution.Close(), r.Inputs.Close(), r.Events.Close())
	if r.unlock != nil {
		r.unlock()
	}
	return err
}

// reportTo makes a run report to a reporter. Call it before the first event.
func reportTo(r *Run, to report.Reporter) {
	r.Events = NewEvents(to)
	r.Ledger = NewLedger(r.Events)
}
