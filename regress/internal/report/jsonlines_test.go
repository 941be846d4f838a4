package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"muster/regress/internal/cost"
)

func TestJSONLines(t *testing.T) {
	for _, c := range []struct {
		file    string
		v       Verbosity
		command string
	}{
		{"check.jsonl", Normal, "check"},
		{"verbose.jsonl", Verbose, "check"},
		{"record.jsonl", Normal, "record"},
	} {
		events := checkRun()
		sum := events[len(events)-1].(Finished).Summary
		sum.Command, sum.Recorded = c.command, sum.Cases-1
		events[len(events)-1] = Finished{sum}
		out, errs := feed(t, events, false, 80, func(con Console) Reporter { return NewJSON(con, c.v) })
		checkGolden(t, c.file, []byte(out))
		for line := range strings.Lines(out) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: not JSON: %s", c.file, line)
			}
		}
		if !strings.Contains(errs, "4 further runs for cases without a verdict") {
			t.Errorf("progress is not on the error stream: %q", errs)
		}
	}
}

// What scripts rely on, byte for byte.
func TestJSONLinesAreAsPromised(t *testing.T) {
	var b bytes.Buffer
	j := &jsonLines{w: &b}
	for _, c := range verdictCases()[:1] {
		if err := j.Handle(c); err != nil {
			t.Fatal(err)
		}
	}
	s := Summary{Command: "check", Run: "r", Cases: 4, CoresBusy: 1.934, Wall: 1500500, CPU: 2e6, OwnCPU: 1}
	estimate := cost.Estimate{CPU: cost.Ratio{Value: 1.0311, Low: 1.0123, High: 1.0501}, Memory: cost.Ratio{Value: 1.0002}, Pairs: 300}
	if err := j.Handle(Cost{Estimate: estimate, Measured: 100, Over: []string{"cpu>1%"}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Handle(Finished{s}); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"case","name":"a/b.go","verdict":"changed","exit":0,"signal":null,"golden_exit":0,"cpu_ms":12.3,"wall_ms":13.0,"peak_rss_kib":9320,"causes":[]}
{"type":"summary","command":"check","run":"r","cases":4,"identical":0,"changed":0,"newly_failing":0,"newly_passing":0,"crashed":0,"timed_out":0,"out_of_memory":0,"output_limit":0,"flaky":0,"new":0,"missing":0,"environment":0,"not_run":0,"differed_once":0,"masked_cases":0,"masked_parts":0,"sources_changed":0,"tool_changed":[],"interrupted":false,"groups":0,"wall_ms":1.5,"cpu_ms":2.0,"own_cpu_ms":0.0,"cores_busy":1.93,"shared_changed":0,"not_in_sample":0,"cost":{"cpu":1.031,"cpu_low":1.012,"cpu_high":1.05,"memory":null,"memory_low":null,"memory_high":null,"too_little":false,"cases":100,"pairs":300,"indicative":false,"over":["cpu>1%"]}}
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestCoresBusyIsANumber(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		got, err := json.Marshal(toJSONSummary(Summary{CoresBusy: x}, nil))
		if err != nil || !bytes.Contains(got, []byte(`"cores_busy":0.00`)) {
			t.Errorf("%v: %s, %v", x, got, err)
		}
	}
}
