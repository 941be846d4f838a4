package job

import (
	"muster/regress"
	"slices"
	"strings"
	"testing"
)

// Every verdict under every way to allow: what the exit status is.
func TestStatus(t *testing.T) {
	for _, allow := range []string{"", "flaky", "new", "missing", "flaky,new", "flaky,missing", "new,missing", "flaky,new,missing"} {
		o := regress.Options{Judge: regress.CompareOptions{Allow: strings.FieldsFunc(allow, func(r rune) bool { return r == ',' })}}
		for _, v := range regress.AllVerdicts() {
			want := regress.StatusDiffers
			switch {
			case v == regress.EnvironmentFailed:
				want = regress.StatusEnvironment
			case v == regress.Identical, slices.Contains(o.Judge.Allow, v.String()):
				want = regress.StatusClean
			}
			for _, command := range []string{"check", "compare", "diff"} {
				s := regress.Summary{Command: command}
				s.Verdicts[regress.Identical] = 3
				s.Verdicts[v]++
				if got := ExitStatus(&o, s, regress.None); got != want {
					t.Errorf("%s, one %v, --allow %q: status %d, want %d", command, v, allow, got, want)
				}
			}
		}
	}
}

func TestStatusWins(t *testing.T) {
	all := regress.Summary{Command: "check"}
	for _, v := range regress.AllVerdicts() {
		all.Verdicts[v] = 1
	}
	recorded := regress.Summary{Command: "record", Recorded: 2}
	recorded.Verdicts[regress.Flaky] = 2
	notRecorded := regress.Summary{Command: "record"}
	notRecorded.Verdicts[regress.EnvironmentFailed] = 1
	var o regress.Options
	for _, c := range []struct {
		why   string
		sum   regress.Summary
		broke regress.Class
		want  int
	}{
		{"the machine's failure wins over differences", all, regress.None, regress.StatusEnvironment},
		{"an interrupt wins over all", all, regress.Interrupted, regress.StatusInterrupted},
		{"a run that the machine broke off", regress.Summary{Command: "check"}, regress.Environment, regress.StatusEnvironment},
		{"a corpus that changed meanwhile", all, regress.Input, regress.StatusInput},
		{"nothing selected", regress.Summary{Command: "check"}, regress.Empty, regress.StatusEmpty},
		{"a record with flaky cases", recorded, regress.None, regress.StatusClean},
		{"a record whose every case fails", regress.Summary{Command: "record"}, regress.None, regress.StatusDiffers},
		{"a record without all of its cases", notRecorded, regress.None, regress.StatusEnvironment},
		{"nothing at all", regress.Summary{Command: "check"}, regress.None, regress.StatusClean},
	} {
		if got := ExitStatus(&o, c.sum, c.broke); got != c.want {
			t.Errorf("%s: status %d, want %d", c.why, got, c.want)
		}
	}
}
