package job

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/state"
)

// TestStateVersions reads a run that each version of the state folder kept: its options, its results, and
// its lines. Version 1 had no digests, so its results and lines are refused.
func TestStateVersions(t *testing.T) {
	for _, version := range []string{"1", "2"} {
		run, err := state.Open("testdata/state-v" + version).Find("2026")
		if err != nil {
			t.Fatal(err)
		}
		o, err := Decode(run)
		want := regress.Options{
			Corpus:  regress.Corpus{Path: "src"},
			Command: regress.Command{Words: []string{"./tool", "{in}", "./tool"}, Env: []string{"X=1"}},
			Select:  regress.Selection{Filters: []string{"[abc]"}},
			Limits:  regress.Limits{Jobs: 2, Timeout: 5 * time.Second, Memory: 1 << 30, OutputMax: regress.OutputMaxDefault},
			Judge:   regress.CompareOptions{Normalize: []string{"s/q/r/", "caf\xe9"}, Retries: 2},
			Store:   regress.Store{Golden: "muster.golden", State: ".muster"},
		}
		if err != nil || !reflect.DeepEqual(o, want) {
			t.Errorf("version %s: %+v, %v\nwant %+v", version, o, err, want)
		}
		var lines []state.Line
		results, err := run.Results()
		for line, failed := range run.ReadLines() {
			if err = errors.Join(err, failed); failed == nil {
				lines = append(lines, *line)
			}
		}
		if version == "1" {
			if regress.ClassOf(err) != regress.Input || results != nil || lines != nil {
				t.Errorf("version 1 was read: %v", err)
			}
			continue
		}
		if err != nil || len(results) != 3 || string(results[0].Name) != "a" || !results[0].Accepted || results[1].Accepted ||
			results[0].Verdict != regress.NewlyFailing {
			t.Errorf("results: %+v, %v", results, err)
		}
		if len(lines) != 3 || lines[0].Identical || lines[0].Code != 1 || lines[0].CPU == 0 || lines[0].Peak == 0 {
			t.Errorf("lines: %+v", lines)
		}
	}
}
