package lab_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"muster/lab"
	"muster/lab/results"
	"muster/lab/stat"
)

// expectWarning checks that the text, the page and the JSON lines have a warning of this kind
// about the benchmark.
func expectWarning(t *testing.T, r *lab.Results, err error, report lab.Report, kind, name string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, page, lines := render(t, r, report)
	expectText(t, strings.Join(strings.Fields(text), " "), "Warning: "+kind+", "+name)
	expectText(t, page, kind+", "+name)
	for _, l := range lines {
		if l["type"] == "warning" && l["kind"] == kind && l["name"] == name && l["text"] != "" {
			return
		}
	}
	encoded, _ := json.Marshal(lines)
	t.Errorf("no line of JSON warns of %s of %s:\n%s", kind, name, encoded)
}

// A probe that uses one processor instead of several gets a warning.
func TestOneCoreIsFoundOut(t *testing.T) {
	t.Run("dispatch", func(t *testing.T) {
		o := tinyDispatch(fakeOptions(t, "one-core", 6))
		o.Tasks, o.Procs = []int{10_000}, []int{1, 2}
		r, err := lab.Dispatch(t.Context(), o)
		expectWarning(t, r, err, lab.DispatchReport(r, o), "one-core", lab.DispatchName("muster", "single", 2, 10_000, 2))
		for _, w := range r.Warnings() {
			if w.Name == lab.DispatchName("muster", "single", 2, 10_000, 1) {
				t.Errorf("one processor was expected, and the warning is %v", w)
			}
		}
	})
	t.Run("channel", func(t *testing.T) {
		o := tinyChannel(fakeOptions(t, "one-core", 1))
		o.Cycles = []int{0, 10_000}
		r, err := lab.Channel(t.Context(), o)
		expectWarning(t, r, err, lab.ChannelReport(r, o), "one-core", lab.ChannelName(0, 10_000, 2, 0))
		for _, w := range r.Warnings() {
			if w.Kind == stat.OneCore && w.Name == lab.ChannelName(0, 0, 2, 0) {
				t.Errorf("without work the sides wait for each other, and the warning is %v", w)
			}
		}
	})
	t.Run("spawn", func(t *testing.T) {
		o := tinySpawn(fakeOptions(t, "one-core", 1))
		o.Goroutines = []int{10_000}
		r, err := lab.Spawn(t.Context(), o)
		expectWarning(t, r, err, lab.SpawnReport(r, o), "one-core", lab.SpawnName("muster", "each", 1, 10_000, 2))
	})
}

// If the compiler removed the work, a warning reports that the time is too short.
func TestElidingIsFoundOut(t *testing.T) {
	o := tinySpawn(fakeOptions(t, "elided", 1))
	r, err := lab.Spawn(t.Context(), o)
	expectWarning(t, r, err, lab.SpawnReport(r, o), "eliding-suspected", lab.SpawnName("muster", "direct", 1, 10_000_000, 1))
}

// More work takes longer.
func TestProbesDoTheirWork(t *testing.T) {
	o := tinySpawn(options(t, 3))
	o.Work, o.Goroutines, o.Procs = []int{1, 1000}, []int{2000}, []int{1}
	r, err := lab.Spawn(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	fastest := func(name string) float64 { return slices.Min(r.Figures(name, "ns/op")) }
	least := func(work int, mode string) float64 {
		count := map[string]int{"each": 2000, "direct": 10_000_000 / work}[mode]
		return fastest(lab.SpawnName("muster", mode, work, count, 1))
	}
	if one, many := least(1, "direct"), least(1000, "direct"); many < 10*one {
		t.Errorf("1 root takes %v ns and 1000 take %v", one, many)
	}
	if loop, each := least(1, "direct"), least(1, "each"); each < loop {
		t.Errorf("a call takes %v ns in a loop and %v in a goroutine", loop, each)
	}
	c := tinyChannel(options(t, 3))
	c.Cycles, c.Procs, c.Processes = []int{0, 1000}, []int{1}, 0
	if r, err = lab.Channel(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	none, many := fastest(lab.ChannelName(0, 0, 1, 0)), fastest(lab.ChannelName(0, 1000, 1, 0))
	if many < none+100 {
		t.Errorf("an item takes %v ns without cycles and %v with 1000", none, many)
	}
}

// The error of a failed process has its first line of output, and is not an InputError.
func TestProbesThatFail(t *testing.T) {
	for fake, wanted := range map[string][]string{
		"nothing": {`"" is not a benchmark line`},
		"half":    {`"BenchmarkX 1 2" is not a benchmark line`},
		"spaces":  {"is not a benchmark line"},
		"nan":     {`"NaN" is not a number`},
		"none":    {`"0" is not a number of operations`},
		"usage":   {"exit status 2: no flag -jobs"},
		"flood":   {"is not a benchmark line"},
	} {
		t.Run(fake, func(t *testing.T) {
			o := tinyDispatch(fakeOptions(t, fake, 1))
			_, err := lab.Dispatch(t.Context(), o)
			expectFailure(t, err, append(wanted, "Dispatch/impl=muster/mode=single/jobs=2/tasks=1000/procs=1: ")...)

			c := tinyChannel(fakeOptions(t, fake, 1))
			c.Processes = 2
			var journal strings.Builder
			whole := tinyChannel(fakeOptions(t, "whole", 1))
			whole.Journal = &journal
			if _, err := lab.Channel(t.Context(), whole); err != nil {
				t.Fatal(err)
			}
			c.Earlier = strings.NewReader(withoutProcesses(journal.String()))
			_, err = lab.Channel(t.Context(), c)
			expectFailure(t, err, "/processes=1: a process printed ")
			if fake == "usage" {
				expectFailure(t, err, `instead of "ready": no flag -jobs`)
			}
		})
	}
}

// Endless output is read and discarded: the fake prints 64 MiB to each stream.
func TestFloodIsNotKept(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := lab.Dispatch(t.Context(), tinyDispatch(fakeOptions(t, "flood", 1))); err == nil {
		t.Error("endless output is a result")
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 8<<20 {
		t.Errorf("%d bytes were allocated", after.TotalAlloc-before.TotalAlloc)
	}
}

// withoutProcesses removes the figures of several processes from a journal.
func withoutProcesses(journal string) string {
	var kept []string
	for line := range strings.Lines(journal) {
		if !strings.Contains(line, "/processes=") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func expectFailure(t *testing.T, err error, wanted ...string) {
	t.Helper()
	var input *lab.InputError
	if err == nil || errors.As(err, &input) {
		t.Fatalf("%v", err)
	}
	expectText(t, err.Error(), wanted...)
	if len(err.Error()) > 1000 || strings.Contains(err.Error(), "%!") || strings.Contains(err.Error(), "stack") {
		t.Errorf("the error is %.2000s", err)
	}
}

// A contestant whose figures are all absent is in the table.
func TestAbsentContestant(t *testing.T) {
	o := tinyDispatch(fakeOptions(t, "whole", 1))
	r, err := lab.Dispatch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.Absent = append(r.Absent, results.Absent{Name: lab.DispatchName("cpp-std", "single", 2, 1000, 0), Why: "does not end"})
	text, page, _ := render(t, r, lab.DispatchReport(r, o))
	expectText(t, text, "\n  cpp-std ", "does not end")
	expectText(t, page, "cpp-std", "does not end")
}

// An absent figure is in every report, with the reason.
func TestAbsent(t *testing.T) {
	for fake, why := range map[string]string{"no-such-mode": "has no such mode", "deadlock": "does not end", "no-more": "the system gives no more"} {
		o := tinyDispatch(fakeOptions(t, fake, 1))
		r, err := lab.Dispatch(t.Context(), o)
		if err != nil || len(r.Absent) != 6 || r.Absent[0].Why != why {
			t.Fatalf("%s: %v, %+v", fake, err, r)
		}
		text, _, lines := render(t, r, lab.DispatchReport(r, o))
		if fake == "no-such-mode" {
			why = "–"
		}
		expectText(t, text, why)
		if lines[0]["type"] != "absent" || lines[0]["name"] != r.Absent[0].Name || lines[0]["why"] == "" {
			t.Errorf("%v", lines[0])
		}
	}
}
