package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/cost"
	"muster/regress/internal/name"
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

// Scripts rely on these bytes.
func TestJSONLinesAreAsPromised(t *testing.T) {
	var b bytes.Buffer
	j := &jsonLines{w: &b}
	s := regress.Summary{Command: "check", Run: "r", Cases: 4, CoresBusy: 1.934, Wall: 1500500, CPU: 2e6, OwnCPU: 1}
	estimate := cost.Estimate{CPU: cost.Ratio{Value: 1.0311, Low: 1.0123, High: 1.0501}, Memory: cost.Ratio{Value: 1.0002}, Pairs: 300}
	for _, ev := range []Event{verdictCases()[0], Cost{Estimate: estimate, Measured: 100, Over: []string{"cpu>1%"}}, Finished{s}} {
		if err := j.Handle(ev); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.SplitAfter(b.String(), "\n")
	for i, want := range []string{
		`{"type":"case","name":"a/b.go","verdict":"changed","exit":0,"signal":null,"golden_exit":0,"cpu_ms":12.3,"wall_ms":13,"peak_rss_kib":9320,"causes":[],`,
		`{"type":"summary","command":"check","run":"r","cases":4,"identical":0,"changed":0,"newly_failing":0,"newly_passing":0,"crashed":0,"timed_out":0,"out_of_memory":0,"output_limit":0,"flaky":0,"new":0,"missing":0,"environment":0,"not_run":0,"differed_once":0,"masked_cases":0,"masked_parts":0,"masked_lines":0,"masked_whole":0,"sources_changed":0,"tool_changed":[],"interrupted":false,"groups":0,"wall_ms":1.5005,"cpu_ms":2,"own_cpu_ms":0.000001,"cores_busy":1.934,"shared_changed":0,"not_in_sample":0,"cost":{"cpu":1.031,"cpu_low":1.012,"cpu_high":1.05,"memory":null,"memory_low":null,"memory_high":null,"too_little":false,"cases":100,"pairs":300,"indicative":false,"over":["cpu>1%"]},`,
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("got\n%swant\n%s", lines[i], want)
		}
	}
}

func TestCoresBusyIsANumber(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var b bytes.Buffer
		err := newLineWriter().write(&b, Finished{regress.Summary{CoresBusy: x}}, nil)
		if err != nil || !strings.Contains(b.String(), `"cores_busy":0,`) {
			t.Errorf("%v: %s, %v", x, b.String(), err)
		}
	}
}

// A script may pass a name on that it read from a line, whatever is in the name. Other texts are printable.
func TestNamesSurviveLines(t *testing.T) {
	var b bytes.Buffer
	const raw = "a\u00a0b\u202fc\u3000d\u200be\xff/f\n%41.c"
	if err := newLineWriter().write(&b, Case{Name: raw, Why: "odd\u202etext", Verdict: regress.EnvironmentFailed}, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"name":"`+strings.ReplaceAll(name.Print(raw), `"`, `\"`)+`"`) || strings.Contains(b.String(), "\u202e") {
		t.Errorf("%s", b.String())
	}
	var line struct{ Name string }
	err := json.Unmarshal(b.Bytes(), &line)
	if back, _ := name.Parse(line.Name); err != nil || back != raw {
		t.Errorf("%q, %v, want %q", back, err, raw)
	}
}
