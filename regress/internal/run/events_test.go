package run

import (
	"errors"
	"testing"

	"muster/regress/internal/report"
)

// brokenReporter fails with its errors, one after the other.
type brokenReporter struct {
	errs []error
	seen int
}

func (b *brokenReporter) next() error {
	b.seen++
	return b.errs[b.seen-1]
}

func (b *brokenReporter) Handle(report.Event) error { return b.next() }
func (b *brokenReporter) Close() error              { return b.next() }

// A broken output keeps getting events. Close returns its first error.
func TestBrokenOutput(t *testing.T) {
	first := errors.New("first")
	out := &brokenReporter{errs: []error{nil, first, nil, errors.New("last")}}
	e := NewEvents(out)
	for range 3 {
		e.Note("text")
	}
	if err := e.Close(); err != first || out.seen != 4 {
		t.Errorf("%v after %d calls, want %v after 4", err, out.seen, first)
	}
}
