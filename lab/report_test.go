package lab_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/lab"
	"muster/lab/results"
)

// questionReport holds the results of a question and its report.
type questionReport struct {
	results *lab.Results
	report  func(*lab.Results) lab.Report
}

// reports returns results of every question, made with fakes and contestants.
func reports(t *testing.T) map[string]questionReport {
	t.Helper()
	d := tinyDispatch(fakeOptions(t, "whole", 2))
	d.Tasks, d.Procs = []int{10, 100}, []int{1, 2}
	c := tinyChannel(fakeOptions(t, "whole", 2))
	s := tinySpawn(fakeOptions(t, "whole", 2))
	i := tinyIO(t, fakeOptions(t, "whole", 2))
	all := map[string]questionReport{}
	keep := func(name string, r *lab.Results, err error, report func(*lab.Results) lab.Report) {
		if err != nil {
			t.Fatal(err)
		}
		all[name] = questionReport{r, report}
	}
	r, err := lab.Dispatch(t.Context(), d)
	keep("dispatch", addContestant(r, "cpp-std", func(impl string, s results.Sample) string {
		return lab.DispatchName(impl, results.KeyOf(s.Name, "mode"), 2, s.N, 0)
	}), err, func(r *lab.Results) lab.Report { return lab.DispatchReport(r, d) })
	r, err = lab.Channel(t.Context(), c)
	keep("channel", r, err, func(r *lab.Results) lab.Report { return lab.ChannelReport(r, c) })
	r, err = lab.Spawn(t.Context(), s)
	keep("spawn", addContestant(r, "erlang", func(impl string, s results.Sample) string {
		return lab.SpawnName(impl, results.KeyOf(s.Name, "mode"), 1, s.N, 0)
	}), err, func(r *lab.Results) lab.Report { return lab.SpawnReport(r, s) })
	r, err = lab.IO(t.Context(), i)
	keep("io", r, err, func(r *lab.Results) lab.Report { return lab.IOReport(r, i) })
	a := lab.AdviseOptions{Options: fakeOptions(t, "whole", 2), Dir: t.TempDir()}
	r, err = lab.Advise(t.Context(), a)
	keep("advise", r, err, func(r *lab.Results) lab.Report { return lab.AdviseReport(r, a) })
	return all
}

// addContestant copies each figure of muster to a contestant.
func addContestant(r *lab.Results, impl string, name func(string, results.Sample) string) *lab.Results {
	for _, s := range slices.Clone(r.Samples) {
		s.Name = name(impl, s)
		r.Samples = append(r.Samples, s)
	}
	return r
}

// Any part of the results, with any values, gives a report.
func TestReportsOfAnything(t *testing.T) {
	all := reports(t)
	for _, question := range slices.Sorted(maps.Keys(all)) {
		t.Run(question, func(t *testing.T) {
			whole := all[question]
			text, _, _ := render(t, whole.results, whole.report(whole.results))
			if len(text) < 500 {
				t.Errorf("the complete report is\n%s", text)
			}
			for _, none := range []*lab.Results{{}, {NotRun: 5}, {Conditions: whole.results.Conditions}} {
				render(t, none, whole.report(none))
			}
			rapid.Check(t, func(rt *rapid.T) {
				r := drawPart(rt, whole.results)
				render(t, r, whole.report(r))
				expectRoundTrip(t, r)
			})
		})
	}
}

// Go's contestants at GOMAXPROCS 1 are compared with muster by processor time, others by elapsed time.
func TestRatioToMuster(t *testing.T) {
	sample := func(name string, wall, cpu float64) results.Sample {
		return results.Sample{Name: name, N: 100, Values: []results.Value{{Unit: results.NsPerOp, Figure: wall}, {Unit: results.CPUPerOp, Figure: cpu}}}
	}
	for procs, want := range map[int]string{1: "ants 900 300 3.00", 2: "ants 900 300 9.00"} {
		o := lab.DispatchOptions{Jobs: 2, Tasks: []int{100}, Procs: []int{procs}}
		r := &lab.Results{Samples: []results.Sample{
			sample(lab.DispatchName("muster", "single", 2, 100, procs), 100, 100), sample(lab.DispatchName("ants", "single", 2, 100, procs), 900, 300),
			sample(lab.DispatchName("cpp-std", "single", 2, 100, 0), 400, 200),
		}}
		var text strings.Builder
		if err := lab.DispatchReport(r, o).Text(&text); err != nil {
			t.Fatal(err)
		}
		expectText(t, strings.Join(strings.Fields(text.String()), " "), want, "cpp-std 400 200 4.00")
	}
}

// Pages draw the figures of the tables, and texts do not repeat them.
func TestPagesHaveCharts(t *testing.T) {
	all := reports(t)
	for question, titles := range map[string][]string{
		"dispatch": {"Time against tasks, GOMAXPROCS 1", "Time per task, GOMAXPROCS 2"},
		"io":       {"Time to put a file of 50,000 bytes", "Time to get a file of 50,000 bytes", "A log line of one goroutine, buffered"},
		"advise":   {"Tasks by workers", "Files by workers"},
	} {
		whole := all[question]
		text, page, _ := render(t, whole.results, whole.report(whole.results))
		for _, title := range titles {
			if !strings.Contains(page, `<svg class="chart" role="img" aria-label="`+title+`"`) {
				t.Errorf("%s: the page has no chart %q", question, title)
			}
			if strings.Contains(text, title) {
				t.Errorf("%s: the text repeats the figures of %q", question, title)
			}
		}
	}
}

// drawPart draws a part of the results. Some figures are absent, and some have odd values.
func drawPart(t *rapid.T, whole *lab.Results) *lab.Results {
	r := &lab.Results{Conditions: whole.Conditions, NotRun: rapid.IntRange(0, 2).Draw(t, "not run")}
	part := rapid.IntRange(0, 100).Draw(t, "part")
	odd := rapid.Bool().Draw(t, "odd")
	for i, s := range whole.Samples {
		kept := rapid.IntRange(0, 99).Draw(t, fmt.Sprint("sample ", i))
		if kept >= part {
			if kept%3 == 0 {
				r.Absent = append(r.Absent, results.Absent{Name: s.Name, Why: "does not end"})
			}
			continue
		}
		if odd && kept%2 == 0 {
			s.Values = slices.Clone(s.Values)
			v := rapid.IntRange(0, len(s.Values)-1).Draw(t, "value")
			s.Values[v].Figure = rapid.SampledFrom([]float64{0, 0, 1e-300, 1e300, 0.5, 1e9, -1}).Draw(t, "figure")
			if kept%4 == 0 {
				s.Values = s.Values[:v]
			}
			if len(s.Values) == 0 {
				continue // every benchmark line has a value
			}
		}
		r.Samples = append(r.Samples, s)
	}
	if len(r.Samples)%2 == 0 {
		r.Missing = append(r.Missing, results.Missing{Peer: "tbb", Reason: "no g++ in PATH; on Debian that is odd", Install: "apt-get install g++"})
	}
	return r
}
