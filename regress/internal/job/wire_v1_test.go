package job

import (
	"reflect"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/state"
)

// TestStateVersion1 reads a run that version 1 of the state folder kept: its options, its results,
// and its lines.
func TestStateVersion1(t *testing.T) {
	run, err := state.Open("testdata/state-v1").Find("2026")
	if err != nil {
		t.Fatal(err)
	}
	o, err := Decode(run)
	want := regress.Options{
		Corpus:  regress.Corpus{Path: "src"},
		Command: regress.Command{Words: []string{"./tool", "{in}", "./tool"}, Env: []string{"X=1"}},
		Select:  regress.Selection{Filters: []string{"[abc]"}},
		Limits:  regress.Limits{Jobs: 2, Timeout: 5 * time.Second, Grace: regress.GraceDefault, Memory: 1 << 30, OutputMax: regress.OutputMaxDefault},
		Judge:   regress.CompareOptions{Normalize: []string{"s/q/r/", "caf\xe9"}, Retries: 2},
		Store:   regress.Store{Golden: "muster.golden", State: ".muster"},
	}
	if err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, %v\nwant %+v", o, err, want)
	}
	results, err := run.Results()
	if err != nil || len(results) != 3 || string(results[0].Name) != "a" || !results[0].Accepted || results[1].Accepted ||
		results[0].Verdict != regress.NewlyFailing {
		t.Errorf("results: %+v, %v", results, err)
	}
	var lines []state.Line
	for line, err := range run.ReadLines() {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, *line)
	}
	if len(lines) != 3 || lines[0].Identical || lines[0].Code != 1 || lines[0].CPU == 0 || lines[0].Peak == 0 {
		t.Errorf("lines: %+v", lines)
	}
}
