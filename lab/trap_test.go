package lab_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"muster/lab"
	"muster/lab/results"
)

// warned runs a question with a fake and checks that a warning of the kind is in the
// text, in the page and in JSON, for the benchmark of that name.
func warned(t *testing.T, r *lab.Results, err error, report lab.Report, kind, name string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, page, lines := shown(t, r, report)
	says(t, strings.Join(strings.Fields(text), " "), "Warning: "+kind+", "+name)
	says(t, page, kind+", "+name)
	for _, l := range lines {
		if l["type"] == "warning" && l["kind"] == kind && l["name"] == name && l["text"] != "" {
			return
		}
	}
	said, _ := json.Marshal(lines)
	t.Errorf("no line of JSON warns of %s of %s:\n%s", kind, name, said)
}

// A probe that runs on one processor where several were meant to is found out.
func TestOneCoreIsFoundOut(t *testing.T) {
	t.Run("dispatch", func(t *testing.T) {
		o := tinyDispatch(faked(t, "one-core", 6))
		o.Tasks, o.Procs = []int{10_000}, []int{1, 2}
		r, err := lab.Dispatch(t.Context(), o)
		warned(t, r, err, lab.DispatchReport(r, o), "one-core", lab.DispatchName("muster", "single", 2, 10_000, 2))
		for _, w := range r.Warnings() {
			if w.Name == lab.DispatchName("muster", "single", 2, 10_000, 1) {
				t.Errorf("one processor was meant, and the warning is %v", w)
			}
		}
	})
	t.Run("channel", func(t *testing.T) {
		o := tinyChannel(faked(t, "one-core", 1))
		r, err := lab.Channel(t.Context(), o)
		warned(t, r, err, lab.ChannelReport(r, o), "one-core", lab.ChannelName(0, 0, 2, 0))
	})
	t.Run("spawn", func(t *testing.T) {
		o := tinySpawn(faked(t, "one-core", 1))
		o.Goroutines = []int{10_000}
		r, err := lab.Spawn(t.Context(), o)
		warned(t, r, err, lab.SpawnReport(r, o), "one-core", lab.SpawnName("muster", "each", 1, 10_000, 2))
	})
}

// A probe of which the compiler left the work out is found out: by a time in which
// nothing can be done, and by one that does not grow with the work.
func TestElidingIsFoundOut(t *testing.T) {
	t.Run("too fast", func(t *testing.T) {
		o := tinySpawn(faked(t, "elided", 1))
		r, err := lab.Spawn(t.Context(), o)
		warned(t, r, err, lab.SpawnReport(r, o), "eliding-suspected", lab.SpawnName("muster", "each", 1, 10, 1))
	})
	t.Run("constant", func(t *testing.T) {
		o := tinyDispatch(faked(t, "constant", 1))
		o.Tasks, o.Procs = []int{1_000, 10_000, 100_000}, []int{2}
		r, err := lab.Dispatch(t.Context(), o)
		warned(t, r, err, lab.DispatchReport(r, o), "eliding-suspected", lab.DispatchName("muster", "single", 2, 1_000, 2))
	})
}

// What is measured takes longer when it is more.
func TestProbesDoTheirWork(t *testing.T) {
	o := tinySpawn(options(t, 3))
	o.Work, o.Goroutines, o.Procs = []int{1, 1000}, []int{2000}, []int{1}
	r, err := lab.Spawn(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	least := func(work int, mode string) float64 {
		count := map[string]int{"each": 2000, "direct": 10_000_000 / work}[mode]
		f := r.Figures(lab.SpawnName("muster", mode, work, count, 1), "ns/op")
		return min(f[0], f[1], f[2])
	}
	if one, many := least(1, "direct"), least(1000, "direct"); many < 10*one {
		t.Errorf("1 root takes %v ns and 1000 take %v", one, many)
	}
	if loop, each := least(1, "direct"), least(1, "each"); each < loop {
		t.Errorf("a call takes %v ns in a loop and %v in a goroutine", loop, each)
	}
	c := tinyChannel(options(t, 1))
	c.Cycles, c.Procs, c.Processes = []int{0, 1000}, []int{1}, 0
	if r, err = lab.Channel(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	none, many := r.Figures(lab.ChannelName(0, 0, 1, 0), "ns/op")[0], r.Figures(lab.ChannelName(0, 1000, 1, 0), "ns/op")[0]
	if many < none+100 {
		t.Errorf("an item takes %v ns without cycles and %v with 1000", none, many)
	}
}

// Processes that fail are named, with the first line of what they say, and are no mistake
// of whoever asked.
func TestProbesThatFail(t *testing.T) {
	for fake, wanted := range map[string][]string{
		"nothing": {`"" is no line of a benchmark`},
		"half":    {`"BenchmarkX 1 2" is no line of a benchmark`},
		"spaces":  {"is no line of a benchmark"},
		"nan":     {`"NaN" is no figure`},
		"none":    {`"0" is no number of operations`},
		"usage":   {"exit status 2: no flag -jobs"},
		"flood":   {"is no line of a benchmark"},
	} {
		t.Run(fake, func(t *testing.T) {
			o := tinyDispatch(faked(t, fake, 1))
			_, err := lab.Dispatch(t.Context(), o)
			failed(t, err, append(wanted, "Dispatch/impl=muster/mode=single/jobs=2/tasks=1000/procs=1: ")...)

			c := tinyChannel(faked(t, fake, 1))
			c.Processes = 2
			var journal strings.Builder
			whole := tinyChannel(faked(t, "whole", 1))
			whole.Journal = &journal
			if _, err := lab.Channel(t.Context(), whole); err != nil {
				t.Fatal(err)
			}
			c.Earlier = strings.NewReader(withoutProcesses(journal.String()))
			_, err = lab.Channel(t.Context(), c)
			failed(t, err, "/processes=1: a process that was to be ready said ")
			if fake == "usage" {
				failed(t, err, `said "": no flag -jobs`)
			}
		})
	}
}

// What a process says without end is read and forgotten: the fake says 64 MiB twice.
func TestFloodIsNotKept(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := lab.Dispatch(t.Context(), tinyDispatch(faked(t, "flood", 1))); err == nil {
		t.Error("a flood is a result")
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 8<<20 {
		t.Errorf("%d bytes were allocated", after.TotalAlloc-before.TotalAlloc)
	}
}

// withoutProcesses is a journal that lacks what several processes did.
func withoutProcesses(journal string) string {
	var kept []string
	for line := range strings.Lines(journal) {
		if !strings.Contains(line, "/processes=") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func failed(t *testing.T, err error, wanted ...string) {
	t.Helper()
	var input *lab.InputError
	if err == nil || errors.As(err, &input) {
		t.Fatalf("%v", err)
	}
	says(t, err.Error(), wanted...)
	if len(err.Error()) > 1000 || strings.Contains(err.Error(), "%!") || strings.Contains(err.Error(), "stack") {
		t.Errorf("the error is %.2000s", err)
	}
}

// A contestant of which all is absent is in the table.
func TestAbsentContestant(t *testing.T) {
	o := tinyDispatch(faked(t, "whole", 1))
	r, err := lab.Dispatch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.Absent = append(r.Absent, results.Absent{Name: lab.DispatchName("cpp-std", "single", 2, 1000, 0), Why: "does not end"})
	text, page, _ := shown(t, r, lab.DispatchReport(r, o))
	says(t, text, "\n  cpp-std ", "does not end")
	says(t, page, "cpp-std", "does not end")
}

// A figure that there is not is named everywhere, with the reason.
func TestAbsent(t *testing.T) {
	for fake, why := range map[string]string{"no-such-mode": "has no such mode", "deadlock": "does not end", "no-more": "the system gives no more"} {
		o := tinyDispatch(faked(t, fake, 1))
		r, err := lab.Dispatch(t.Context(), o)
		if err != nil || len(r.Absent) != 6 || r.Absent[0].Why != why {
			t.Fatalf("%s: %v, %+v", fake, err, r)
		}
		text, _, lines := shown(t, r, lab.DispatchReport(r, o))
		if fake == "no-such-mode" {
			why = "–"
		}
		says(t, text, why)
		if lines[0]["type"] != "absent" || lines[0]["name"] != r.Absent[0].Name || lines[0]["why"] == "" {
			t.Errorf("%v", lines[0])
		}
	}
}
