package state_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"muster/regress"
	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
)

func ignore(int64, *state.Line) {}

// TestLinesAreJSON: a line is what encoding/json makes of it.
func TestLinesAreJSON(t *testing.T) {
	r := newRun(t, state.Open(t.TempDir()), "check", 1)
	lines, err := r.OpenLines(ignore)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for _, l := range []state.Line{
		{},
		{Name: []byte("src/a.c"), Identical: true, CPU: 1, Wall: 2, Peak: 3},
		{Name: []byte("\xff\x00\"\n<é"), Kind: regress.OutputLimit, Code: -1, CPU: math.MaxInt64, Wall: math.MinInt64},
		{Name: []byte("there"), Engine: &outcome.EngineRun{Cached: true, Worker: "w\"1", Queued: 1, QueueKnown: true, Took: 2, Asked: 3}},
	} {
		if err := lines.Add(l); err != nil {
			t.Fatal(err)
		}
		l.Name = append([]byte{}, l.Name...) // nil is null there
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		want.Write(append(text, '\n'))
	}
	if err := lines.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(r.File("cases.jsonl"))
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("got\n%s(%v), want\n%s", got, err, &want)
	}
}

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
