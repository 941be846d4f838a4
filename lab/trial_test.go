package lab

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/lab/probe"
	"muster/lab/results"
)

// A contestant's failure makes a figure absent, and a resumed run retries it. A failure of
// this program ends the run.
func TestContestantThatFails(t *testing.T) {
	o := &Options{Count: 2, Probe: []string{"sh", "-c", "echo BenchmarkX 1 5 ns/op"}}
	plan := func() *planner {
		p, err := newPlanner(o, "test")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var journal strings.Builder
	o.Journal = &journal
	p := plan()
	p.add(contestant{Impl: "other", command: []string{"sh", "-c", "echo it broke >&2; exit 3"}}.trial("Broken", time.Second))
	p.add(trial{Name: "Own", Question: probe.Procs{}})
	if err := p.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := p.Results.Why("Broken"); got != "failed: exit status 3: it broke" || len(p.Results.Figures("Own", results.NsPerOp)) != 2 {
		t.Errorf("%q, %+v", got, p.Results)
	}
	o.Earlier, o.Journal = strings.NewReader(journal.String()), nil
	p = plan()
	p.add(contestant{Impl: "other", command: o.Probe}.trial("Broken", time.Second))
	if err := p.measure(t.Context()); err != nil || len(p.Results.Absent) > 0 || len(p.Results.Samples) != 2 {
		t.Errorf("%v, %+v", err, p.Results)
	}
	o.Earlier, o.Probe = nil, []string{"sh", "-c", "exit 3"}
	p = plan()
	p.add(trial{Name: "Own", Question: probe.Procs{}})
	if err := p.measure(t.Context()); err == nil || !strings.Contains(err.Error(), "Own: exit status 3") {
		t.Errorf("%v", err)
	}
}

// Each measurement records what other programs took.
func TestDisturbanceIsRecorded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports the time of its processors")
	}
	p, err := newPlanner(&Options{Count: 1, Probe: []string{"sh", "-c", "sleep 0.05; echo BenchmarkX 1 5 ns/op"}}, "test")
	if err != nil {
		t.Fatal(err)
	}
	p.add(trial{Name: "Own", Question: probe.Procs{}})
	if err := p.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if own := p.Results.Figures("Own", results.DisturbedUnit); len(own) != 1 {
		t.Errorf("%v, want one", own)
	}
}

// A run must not exceed the limit of its trial. Its estimate follows from a smaller trial. If that one was
// left out, the trial is too, whatever it is estimated to take.
func TestEachMax(t *testing.T) {
	o := &Options{Count: 2, Probe: []string{"sh", "-c", "echo BenchmarkX 10 5000000 ns/op"}} // 5 ms each
	var journal strings.Builder
	o.Journal = &journal
	p, err := newPlanner(o, "test")
	if err != nil {
		t.Fatal(err)
	}
	smaller := "no such trial"
	for _, c := range []struct {
		name string
		ops  int
	}{{"First", 10}, {"Fits", 20}, {"Long", 2000}, {"Longer", 20_000}} {
		one := trial{Name: c.name, Estimate: time.Millisecond, Question: probe.Procs{}}
		one.Ops, one.Smaller, one.EachMax = c.ops, smaller, time.Second/2
		p.add(one)
		smaller = c.name
	}
	if err := p.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"First": "", "Fits": "", "Long": results.TooLong, "Longer": results.TooLong} {
		if why := p.Results.Why(name); why != want || strings.Contains(journal.String(), `{"name":"`+name+`"`) != (want != "") {
			t.Errorf("%s: %q, want %q; the journal is\n%s", name, why, want, journal.String())
		}
	}
}
