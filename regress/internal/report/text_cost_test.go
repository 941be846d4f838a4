package report

import (
	"strings"
	"testing"
	"time"

	"muster/regress/internal/cost"
)

func TestCostInTheSummary(t *testing.T) {
	figures := cost.Estimate{
		Pairs: 300, CPU: cost.Ratio{Value: 1.0311, Low: 1.012, High: 1.0501}, Memory: cost.Ratio{Value: 1.0002},
		Worst: []cost.Case{{Name: "a\nb", CPU: 1.4}, {Name: "c", CPU: 1.3}, {Name: "d", CPU: 1.2}, {Name: "e", CPU: 1.1}},
	}
	noisy, few := figures, figures
	noisy.Warnings = []cost.Warning{{Kind: cost.Quick, Text: "quick"}, {Kind: cost.Noisy, Text: "the interval is wide"}}
	few.CPU.Low, few.CPU.High, few.Worst = 0, 0, nil
	for name, c := range map[string]struct {
		cost Cost
		want string
	}{
		"with all": {Cost{Estimate: figures, Measured: 100, Took: 1800 * time.Millisecond}, `cost: CPU 1.03 × (1.012 … 1.05), peak memory 1.000 ×
      300 pairs of 100 cases, both commands in turns (1.8s)
      worst a%0Ab 1.40 ×, c 1.30 ×, d 1.20 ×
`},
		"beyond a limit": {Cost{Estimate: few, Measured: 1, Over: []string{"cpu>1%"}}, `cost: CPU 1.03 ×, peak memory 1.000 ×: more than cpu>1%
      300 pairs of 1 case, both commands in turns; too few for an interval
`},
		"noisy": {Cost{Estimate: noisy, Measured: 100}, `cost: CPU 1.03 × (1.012 … 1.05), peak memory 1.000 ×
      300 pairs of 100 cases, both commands in turns
      the interval is wide
      worst a%0Ab 1.40 ×, c 1.30 ×, d 1.20 ×
`},
		"indicative": {Cost{Estimate: few, Measured: 100, Indicative: true, Why: "the golden's executable is gone"}, `cost: CPU 1.03 ×, peak memory 1.000 ×
      indicative: the golden's executable is gone
`},
		"no figures": {Cost{Why: "there is nothing to compare"}, "cost: there is nothing to compare\n"},
	} {
		out, _ := feed(t, []Event{Started{Command: "check", At: epoch}, c.cost, Finished{Summary{Command: "check", Cases: 1}}}, false, 80, text(Normal))
		if !strings.Contains(out, "\n"+c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, out, c.want)
		}
		out, _ = feed(t, []Event{c.cost, Finished{Summary{Command: "check", Cases: 1}}}, false, 80, text(Quiet))
		if strings.Contains(out, "cost") {
			t.Errorf("%s, quiet:\n%s", name, out)
		}
	}
}

// Who wants quiet reads in the one line why the exit status is 1.
func TestCostBeyondALimitIsInTheHeadline(t *testing.T) {
	s := Summary{Command: "check", Cases: 3, Over: []string{"cpu>5%"}, ExitStatus: 1}
	s.Verdicts[len(s.Verdicts)-1] = 3
	out, _ := feed(t, []Event{Finished{s}}, false, 80, text(Quiet))
	if want := "check: all 3 cases identical, but the change costs more: cpu>5%\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	if got, want := meaningOf(s), "the change costs more than --fail-on allows"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
