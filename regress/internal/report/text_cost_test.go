package report

import (
	"strings"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/cost"
	"muster/regress/internal/outcome"
)

func TestCostInTheSummary(t *testing.T) {
	figures := cost.Estimate{
		Pairs: 300, CPU: cost.Ratio{Value: 1.0311, Low: 1.012, High: 1.0501}, Memory: cost.Ratio{Value: 1.0002, Low: 0.998, High: 1.0024},
		Worst: []cost.Case{{Name: "a\nb", CPU: 1.4}, {Name: "c", CPU: 1.3}, {Name: "d", CPU: 1.2}, {Name: "e", CPU: 1.1}},
	}
	noisy, few := figures, figures
	noisy.Warnings = []cost.Warning{{Kind: cost.Noisy, Text: "the interval is wide"}}
	few.CPU.Low, few.CPU.High, few.Worst = 0, 0, nil
	few.Warnings = []cost.Warning{{Kind: cost.TooFew, Text: "no interval; run more cases"}}
	recorded := few
	recorded.Memory.Low, recorded.Memory.High, recorded.Warnings = 0, 0, nil
	wide, none, peaks := few, few, figures
	wide.CPU = cost.Ratio{Value: 1.2, Low: 0.4, High: 3.6}
	none.Memory = cost.Ratio{}
	peaks.Memory.Low, peaks.Memory.High = 0, 0
	for name, c := range map[string]struct {
		cost Cost
		want string
	}{
		"with all": {Cost{Estimate: figures, Measured: 100, Took: 1800 * time.Millisecond}, `cost: CPU 1.03 × (1.012 … 1.05), peak memory 1.000 × (0.998 … 1.002)
      300 pairs of 100 cases, both commands in turns (1.8s)
      worst a%0Ab 1.40 ×, c 1.30 ×, d 1.20 ×
`},
		"beyond a limit": {Cost{Estimate: figures, Measured: 1, Over: []string{"cpu>1%"}}, `cost: CPU 1.03 × (1.012 … 1.05), peak memory 1.000 × (0.998 … 1.002): more than cpu>1%
      300 pairs of 1 case, both commands in turns
`},
		"too few pairs": {Cost{Estimate: few, Measured: 1}, `cost: too little to tell of CPU time, peak memory 1.000 × (0.998 … 1.002)
      300 pairs of 1 case, both commands in turns
      no interval; run more cases
`},
		"wide": {Cost{Estimate: wide, Measured: 1}, `cost: too little to tell of CPU time, peak memory 1.000 × (0.998 … 1.002)
`},
		"too few of anything": {Cost{Estimate: none, Measured: 1}, `cost: too little to tell
      300 pairs of 1 case, both commands in turns
`},
		"too few peaks": {Cost{Estimate: peaks, Measured: 1}, `cost: CPU 1.03 × (1.012 … 1.05), too little to tell of peak memory
`},
		"noisy": {Cost{Estimate: noisy, Measured: 100}, `cost: CPU 1.03 × (1.012 … 1.05), peak memory 1.000 × (0.998 … 1.002)
      300 pairs of 100 cases, both commands in turns
      the interval is wide
      worst a%0Ab 1.40 ×, c 1.30 ×, d 1.20 ×
`},
		"indicative": {Cost{Estimate: recorded, Measured: 100, Indicative: true, Why: "the golden's executable is gone"}, `cost: CPU 1.03 ×, peak memory 1.000 ×
      indicative: the golden's executable is gone
`},
		"no figures": {Cost{Why: "there is nothing to compare"}, "cost: there is nothing to compare\n"},
	} {
		out, _ := feed(t, []Event{Started{Command: "check", At: epoch}, c.cost, Finished{regress.Summary{Command: "check", Cases: 1}}}, false, 80, text(Normal))
		if !strings.Contains(out, "\n"+c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, out, c.want)
		}
		out, _ = feed(t, []Event{c.cost, Finished{regress.Summary{Command: "check", Cases: 1}}}, false, 80, text(Quiet))
		if strings.Contains(out, "cost") {
			t.Errorf("%s, quiet:\n%s", name, out)
		}
	}
}

// Who wants quiet reads in the one line why the exit status is 1.
func TestCostBeyondALimitIsInTheHeadline(t *testing.T) {
	s := regress.Summary{Command: "check", Cases: 3, Over: []string{"cpu>5%"}, ExitStatus: 1}
	s.Verdicts[len(s.Verdicts)-1] = 3
	out, _ := feed(t, []Event{Finished{s}}, false, 80, text(Quiet))
	if want := "check: all 3 cases identical, but the change costs more: cpu>5%\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	if got, want := meaningOf(s), "the change costs more than --fail-on allows"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A quiet report explains exit status 3, too. The reason cannot pretend to be the result.
func TestFailureIsInTheQuietReport(t *testing.T) {
	s := regress.Summary{Command: "check", Cases: 3, ExitStatus: 3}
	s.Verdicts[regress.EnvironmentFailed] = 2
	s.Verdicts[regress.Identical] = 1
	out, _ := feed(t, []Event{
		Case{Name: "a\nb", Verdict: regress.EnvironmentFailed, Why: "an engine says:\ncheck: all 3 cases identical"},
		Case{Name: "c", Verdict: regress.EnvironmentFailed, Why: "another reason"},
		Finished{s},
	}, false, 80, text(Quiet))
	want := "check: 2 of 3 cases not identical\n2 cases failed because of the machine; the first: a%0Ab: an engine says:‹LF›check: all 3 cases identical\n"
	if out != want {
		t.Errorf("%q, want %q", out, want)
	}
	s.Command = "record" // its error has the reason
	out, _ = feed(t, []Event{Started{Command: "record", At: epoch}, Case{Name: "c", Verdict: regress.EnvironmentFailed, Why: "a reason"}, Finished{s}}, false, 80, text(Quiet))
	if strings.Contains(out, "a reason") {
		t.Errorf("%q", out)
	}
}

// A ratio that would mislead is in no report, wherever it is read.
func TestTooLittleToTellIsSaidEverywhere(t *testing.T) {
	run := []Event{
		Started{Command: "check", At: epoch},
		Cost{Measured: 2, Estimate: cost.Estimate{
			Pairs: 4, CPU: cost.Ratio{Value: 1.777, Low: 0.593, High: 5.32}, Memory: cost.Ratio{Value: 1.777},
			Cases:    []cost.Case{{Name: "a", CPU: 1.9, Old: outcome.Cost{CPU: 1e6}, New: outcome.Cost{CPU: 19e5}}},
			Warnings: []cost.Warning{{Kind: cost.TooFew, Text: "the interval says nothing; run more cases"}},
		}},
		Finished{regress.Summary{Command: "check", Cases: 2}},
	}
	var lines strings.Builder
	j := &jsonLines{w: &lines}
	for _, e := range run {
		if err := j.Handle(e); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := feed(t, run, false, 80, text(Normal))
	for where, got := range map[string]string{"text": out, "Markdown": writeMarkdown(t, run), "HTML": string(writeHTML(t, run))} {
		if !strings.Contains(got, "too little to tell") || !strings.Contains(got, "run more cases") || strings.Contains(got, "1.78") {
			t.Errorf("%s:\n%s", where, got)
		}
	}
	if !strings.Contains(lines.String(), `"cost":{"cpu":null,"cpu_low":0.593,"cpu_high":5.32,"memory":null,"memory_low":null,"memory_high":null,"too_little":true,`) {
		t.Errorf("JSON: %s", lines.String())
	}
}
