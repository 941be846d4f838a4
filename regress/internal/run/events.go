package run

import (
	"sync"

	"muster/regress/internal/report"
)

// Events passes the events of a run to its reporters. Several goroutines may call its methods.
type Events struct {
	mu       sync.Mutex // guards the fields below
	reporter report.Reporter
	broken   error // the first error of reporter
}

// NewEvents returns Events for a reporter. Close closes the reporter.
func NewEvents(r report.Reporter) *Events { return &Events{reporter: r} }

// Emit passes an event on. Close returns the first error of an output. Emit returns no error,
// because a broken output must not end the run: its golden is worth more.
func (e *Events) Emit(ev report.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.reporter.Handle(ev); e.broken == nil {
		e.broken = err
	}
}

// Note emits a note.
func (e *Events) Note(text string) { e.Emit(report.Note{Text: text}) }

// Warn emits a warning.
func (e *Events) Warn(text string) { e.Emit(report.Note{Text: text, Warning: true}) }

// Close closes the reporter. It returns the first error of all calls.
func (e *Events) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.reporter.Close(); e.broken == nil {
		e.broken = err
	}
	return e.broken
}
