package regress

import (
	"reflect"
	"testing"
	"time"

	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
)

// A run that version 1 of the state folder kept is read as it was meant: all of
// its options, what was not identical, and what is done of it.
func TestStateVersion1(t *testing.T) {
	run, err := state.Open("testdata/state-v1").Find("2026")
	if err != nil {
		t.Fatal(err)
	}
	o, err := optionsOf(run)
	want := Options{
		Corpus:  Corpus{Path: "src"},
		Command: Command{Words: []string{"./tool", "{in}", "./tool"}, Env: []string{"X=1"}},
		Select:  Selection{Filters: []string{"[abc]"}},
		Limits:  Limits{Jobs: 2, Timeout: 5 * time.Second, Grace: GraceDefault, Memory: 1 << 30, OutputMax: OutputMaxDefault},
		Judge:   CompareOptions{Normalize: []string{"s/q/r/", "caf\xe9"}, Retries: 2},
		Store:   Store{Golden: "muster.golden", State: ".muster"},
	}
	if err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, %v\nwant %+v", o, err, want)
	}
	results, err := run.Results()
	if err != nil || len(results) != 3 || string(results[0].Name) != "a" || !results[0].Accepted || results[1].Accepted ||
		results[0].Verdict != outcome.NewlyFailing {
		t.Errorf("results: %+v, %v", results, err)
	}
	lines, err := run.ReadLines()
	if err != nil || len(lines) != 3 || lines[0].Identical || lines[0].Code != 1 || lines[0].CPU == 0 || lines[0].Peak == 0 {
		t.Errorf("lines: %+v, %v", lines, err)
	}
	if text := runText(run, kept{Cases: 3, NotIdentical: 3}); text != "3 cases, 3 not identical" {
		t.Error(text)
	}
}
