package job

import (
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/fault"
	"muster/regress/internal/opt"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// Every verdict under every way to allow: what the exit status is.
func TestStatus(t *testing.T) {
	for _, allow := range []string{"", "flaky", "new", "missing", "flaky,new", "flaky,missing", "new,missing", "flaky,new,missing"} {
		o := opt.Options{Judge: opt.CompareOptions{Allow: strings.FieldsFunc(allow, func(r rune) bool { return r == ',' })}}
		for _, v := range outcome.Verdicts() {
			want := fault.StatusDiffers
			switch {
			case v == outcome.Environment:
				want = fault.StatusEnvironment
			case v == outcome.Identical, slices.Contains(o.Judge.Allow, v.String()):
				want = fault.StatusClean
			}
			for _, command := range []string{"check", "compare", "diff"} {
				s := report.Summary{Command: command}
				s.Verdicts[outcome.Identical] = 3
				s.Verdicts[v]++
				if got := ExitStatus(&o, s, fault.None); got != want {
					t.Errorf("%s, one %v, --allow %q: status %d, want %d", command, v, allow, got, want)
				}
			}
		}
	}
}

func TestStatusWins(t *testing.T) {
	all := report.Summary{Command: "check"}
	for _, v := range outcome.Verdicts() {
		all.Verdicts[v] = 1
	}
	recorded := report.Summary{Command: "record", Recorded: 2}
	recorded.Verdicts[outcome.Flaky] = 2
	notRecorded := report.Summary{Command: "record"}
	notRecorded.Verdicts[outcome.Environment] = 1
	var o opt.Options
	for _, c := range []struct {
		why   string
		sum   report.Summary
		broke fault.Class
		want  int
	}{
		{"the machine's failure wins over differences", all, fault.None, fault.StatusEnvironment},
		{"an interrupt wins over all", all, fault.Interrupted, fault.StatusInterrupted},
		{"a run that the machine broke off", report.Summary{Command: "check"}, fault.Environment, fault.StatusEnvironment},
		{"a corpus that changed meanwhile", all, fault.Input, fault.StatusInput},
		{"nothing selected", report.Summary{Command: "check"}, fault.Empty, fault.StatusEmpty},
		{"a record with flaky cases", recorded, fault.None, fault.StatusClean},
		{"a record whose every case fails", report.Summary{Command: "record"}, fault.None, fault.StatusDiffers},
		{"a record without all of its cases", notRecorded, fault.None, fault.StatusEnvironment},
		{"nothing at all", report.Summary{Command: "check"}, fault.None, fault.StatusClean},
	} {
		if got := ExitStatus(&o, c.sum, c.broke); got != c.want {
			t.Errorf("%s: status %d, want %d", c.why, got, c.want)
		}
	}
}
