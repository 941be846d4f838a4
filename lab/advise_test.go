package lab_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/lab"
	"muster/lab/results"
)

// setCondition returns the results with another value of a condition.
func setCondition(r *lab.Results, key, value string) *lab.Results {
	changed := *r
	changed.Conditions = nil
	for _, c := range r.Conditions {
		if c.Key == key {
			c.Value = value
		}
		changed.Conditions = append(changed.Conditions, c)
	}
	return &changed
}

// scaleCPU returns the results with processor time = share × processors × elapsed time for
// tasks that only compute.
func scaleCPU(r *lab.Results, share float64) *lab.Results {
	changed := *r
	changed.Samples = nil
	for _, s := range r.Samples {
		if strings.HasPrefix(s.Name, "Workers/") && results.KeyOf(s.Name, "wait") == "0s" && results.KeyOf(s.Name, "procs") != "1" {
			s.Values = []results.Value{{Unit: "ns/op", Figure: 80}, {Unit: "cpu-ns/op", Figure: 80 * share * float64(runtime.GOMAXPROCS(0))}}
		}
		changed.Samples = append(changed.Samples, s)
	}
	return &changed
}

// Advice from a disturbed measurement is marked in the text, on the page and in JSON. Advice
// that rests on no measurement is not.
func TestAdviceOfABusyMachine(t *testing.T) {
	o := lab.AdviseOptions{Options: fakeOptions(t, "whole", 1), Dir: t.TempDir()}
	whole, err := lab.Advise(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	idle := withDisturbance(scaleCPU(setCondition(whole, "quota", "none"), 1), 0)
	several := runtime.GOMAXPROCS(0) > 1
	for what, c := range map[string]struct {
		r        *lab.Results
		reliable bool
		lead     string
		procs    string // of the advice on GOMAXPROCS
	}{
		"an idle machine":             {idle, true, "in its current state", ", Go's default"},
		"other programs":              {withDisturbance(idle, 0.5), false, "The machine was disturbed: other programs took more than 20 %", ", Go's default"},
		"other programs took half":    {withDisturbance(scaleCPU(idle, 0.5), 0.5), false, "The machine was disturbed", ", Go's default"},
		"a limit that nobody can see": {scaleCPU(idle, 0.5), !several, "", ", Go's default"},
		"nearly all of the time":      {scaleCPU(idle, 0.9), true, "", ", Go's default"},
		"a quota":                     {setCondition(idle, "quota", "0.5"), true, "", "1"},
		"other programs, and a quota": {setCondition(withDisturbance(idle, 0.5), "quota", "0.5"), false, "The machine was disturbed", "1"},
	} {
		report := lab.AdviseReport(c.r, o)
		text, page, _ := render(t, c.r, report)
		if marked := strings.Contains(text, " unreliable: ") && strings.Contains(page, ">unreliable: "); marked == c.reliable {
			t.Errorf("%s: marked %t, want %t:\n%s", what, marked, !c.reliable, text)
		}
		if words := strings.Join(strings.Fields(text), " "); !strings.Contains(words, c.lead) {
			t.Errorf("%s: the text lacks %q:\n%s", what, c.lead, text)
		}
		var b bytes.Buffer
		if err := report.JSON(&b, c.r); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b.Bytes()) {
			var one struct {
				Type, Setting, Value string
				Reliable             bool
				Figures              map[string]float64
			}
			if err := json.Unmarshal(line, &one); err != nil || one.Type != "advice" {
				continue
			}
			if want := c.reliable || len(one.Figures) == 0; one.Reliable != want {
				t.Errorf("%s: reliable %t, want %t: %s", what, one.Reliable, want, one.Setting)
			}
			if one.Setting == "GOMAXPROCS" && several && !strings.HasSuffix(one.Value, c.procs) {
				t.Errorf("%s: GOMAXPROCS %s, want %s", what, one.Value, c.procs)
			}
		}
	}
}

// Long tasks are dispatched one by one.
func TestAdviceForLongTasks(t *testing.T) {
	o := lab.AdviseOptions{Options: fakeOptions(t, "whole", 1), Dir: t.TempDir(), Task: time.Hour}
	r, err := lab.Advise(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := lab.AdviseReport(r, o).JSON(&b, r); err != nil || !strings.Contains(b.String(), "for chunks of 1 task of 1h0m0s ") {
		t.Errorf("%v; advice for long tasks:\n%s", err, &b)
	}
}
