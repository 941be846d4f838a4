package state_test

import (
	"errors"
	"testing"

	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
)

func ignore(int64, *state.Line) {}

// A worker's name is raw bytes, which JSON does not hold.
func TestWorkerNameIsKept(t *testing.T) {
	const worker = "w\xff\n%"
	r := newRun(t, state.Open(t.TempDir()), "check", 1)
	said := &outcome.EngineRun{Worker: worker, Took: 2}
	lines, err := r.OpenLines(ignore)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(lines.Add(state.Line{Engine: said}), lines.Close(), r.SaveResults([]state.Result{{Engine: said}})); err != nil {
		t.Fatal(err)
	}
	for got, err := range r.ReadLines() {
		if err != nil || *got.Engine != *said {
			t.Errorf("a line has %+v, %v", got, err)
		}
	}
	results, err := r.Results()
	if err != nil || *results[0].Engine != *said {
		t.Errorf("results have %+v, %v", results, err)
	}
	if said.Worker != worker {
		t.Errorf("the caller's account changed to %q", said.Worker)
	}
}
