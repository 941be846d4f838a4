package state_test

import (
	"os"
	"reflect"
	"testing"

	"muster/regress/internal/state"
)

// TestPairsOutliveAnInterruption: what was flushed comes back, but for a line that the end
// of the process tore, and more goes behind it.
func TestPairsOutliveAnInterruption(t *testing.T) {
	r := newRun(t, state.Open(t.TempDir()), "check", 1)
	want := []state.Pair{
		{Name: []byte("a"), Old: state.Took{CPU: 1, Wall: 2, Peak: 3}, New: state.Took{CPU: 4, Wall: 5, Peak: 6}},
		{Name: []byte("\xff\n"), New: state.Took{CPU: 7}},
	}
	for i, pair := range want {
		p, got, err := r.OpenPairs()
		if err != nil || len(got) != i || i > 0 && !reflect.DeepEqual(got, want[:i]) {
			t.Fatalf("%d: %+v, %v", i, got, err)
		}
		if err := p.Add(pair); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(r.File("pairs.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"name":"b"`); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	p, got, err := r.OpenPairs()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, not %+v", got, err, want)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
