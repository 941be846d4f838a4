package regress

import (
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// Every verdict under every way to allow: what the exit status is.
func TestStatus(t *testing.T) {
	for _, allow := range []string{"", "flaky", "new", "missing", "flaky,new", "flaky,missing", "new,missing", "flaky,new,missing"} {
		o := Options{Judge: CompareOptions{Allow: strings.FieldsFunc(allow, func(r rune) bool { return r == ',' })}}
		for _, v := range outcome.Verdicts() {
			want := fault.StatusDiffers
			switch {
			case v == outcome.Environment:
				want = fault.StatusEnvironment
			case v == outcome.Identical, slices.Contains(o.Judge.Allow, v.String()):
				want = fault.StatusClean
			}
			for _, command := range []string{"check", "compare", "diff"} {
				s := Summary{Command: command}
				s.Verdicts[outcome.Identical] = 3
				s.Verdicts[v]++
				if got := exitStatus(&o, s, fault.None); got != want {
					t.Errorf("%s, one %v, --allow %q: status %d, want %d", command, v, allow, got, want)
				}
			}
		}
	}
}

func TestStatusWins(t *testing.T) {
	all := Summary{Command: "check"}
	for _, v := range outcome.Verdicts() {
		all.Verdicts[v] = 1
	}
	recorded := Summary{Command: "record", Recorded: 2}
	recorded.Verdicts[outcome.Flaky] = 2
	notRecorded := Summary{Command: "record"}
	notRecorded.Verdicts[outcome.Environment] = 1
	var o Options
	for _, c := range []struct {
		why   string
		sum   Summary
		broke fault.Class
		want  int
	}{
		{"the machine's failure wins over differences", all, fault.None, fault.StatusEnvironment},
		{"an interrupt wins over all", all, fault.Interrupted, fault.StatusInterrupted},
		{"a run that the machine broke off", Summary{Command: "check"}, fault.Environment, fault.StatusEnvironment},
		{"a corpus that changed meanwhile", all, fault.Input, fault.StatusInput},
		{"nothing selected", Summary{Command: "check"}, fault.Empty, fault.StatusEmpty},
		{"a record with flaky cases", recorded, fault.None, fault.StatusClean},
		{"a record whose every case fails", Summary{Command: "record"}, fault.None, fault.StatusDiffers},
		{"a record without all of its cases", notRecorded, fault.None, fault.StatusEnvironment},
		{"nothing at all", Summary{Command: "check"}, fault.None, fault.StatusClean},
	} {
		if got := exitStatus(&o, c.sum, c.broke); got != c.want {
			t.Errorf("%s: status %d, want %d", c.why, got, c.want)
		}
	}
}
