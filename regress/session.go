package regress

import (
	"errors"
	"time"

	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/job"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
)

// session is one command over a corpus, from its opening to its summary. One goroutine at a time
// uses it. Goroutines that run cases may read the fields that do not change, and emit events.
type session struct {
	job     job.Job
	host    host.Host
	began   time.Time
	state   *state.State
	unlock  func()
	run     *state.Run
	resumed bool // run was begun by another process

	events *run.Events
	ledger *run.Ledger

	in   *run.Inputs
	tool *run.Tool
	exec *run.Execution

	comparer content.Comparer

	differences *analyse.Collector
}

// reportTo makes the session report to r. Call it before the first event.
func (s *session) reportTo(r report.Reporter) {
	s.events = run.NewEvents(r)
	s.ledger = run.NewLedger(s.events)
}

// close releases everything, however far the session got.
func (s *session) close() error {
	err := errors.Join(s.exec.Close(), s.in.Close(), s.events.Close())
	if s.unlock != nil {
		s.unlock()
	}
	return err
}
