package lab_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/lab"
	"muster/lab/results"
)

func tinyClaims(t *testing.T) lab.ClaimsOptions {
	o := lab.ClaimsOptions{Options: options(t, 1), Dir: t.TempDir(), Sizes: lab.ClaimSizes{
		Cases: 20, CaseBytes: 2000, Tasks: 1000, Items: 1000, Roots: 2000, Alive: 100, Goroutines: 1000,
		Renames: 100, Uploads: 20, Rows: 30,
	}}
	return o
}

// Every claim is measured, its requirements are met here, and the report accepts any part of
// the results.
func TestClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("contestants take a minute to build, and change seldom")
	}
	o := tinyClaims(t)
	r, err := lab.Claims(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	missing(t, r)
	if want := "holds"; verdicts(t, r, o)[30] != want {
		t.Errorf("a program with too many threads: %s, want %s", verdicts(t, r, o)[30], want)
	}
	for number, verdict := range verdicts(t, r, o) {
		if text := reasons(t, r, o)[number]; verdict == "cannot_be_told" && strings.Contains(text, "not measured") {
			t.Errorf("claim %d: %s", number, text)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		some := drawPart(rt, r)
		render(t, some, lab.ClaimsReport(some, o))
	})
}

// claimLines returns the report's JSON lines of claims.
func claimLines(t *testing.T, r *lab.Results, o lab.ClaimsOptions) (lines []map[string]any) {
	t.Helper()
	var b bytes.Buffer
	if err := lab.ClaimsReport(r, o).JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		var one map[string]any
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		if one["type"] == "claim" {
			lines = append(lines, one)
		}
	}
	return lines
}

func verdicts(t *testing.T, r *lab.Results, o lab.ClaimsOptions) map[int]string {
	t.Helper()
	found := map[int]string{}
	for _, l := range claimLines(t, r, o) {
		found[int(l["number"].(float64))] = l["verdict"].(string)
	}
	if len(found) != 32 {
		t.Fatalf("%d claims", len(found))
	}
	return found
}

func reasons(t *testing.T, r *lab.Results, o lab.ClaimsOptions) map[int]string {
	t.Helper()
	found := map[int]string{}
	for _, l := range claimLines(t, r, o) {
		found[int(l["number"].(float64))] = l["why"].(string)
	}
	return found
}

// withDisturbance returns the results as if other programs had taken a share of the processors' time.
func withDisturbance(r *lab.Results, share float64) *lab.Results {
	changed := *r
	changed.Samples = nil
	for _, s := range r.Samples {
		s.Values = slices.DeleteFunc(slices.Clone(s.Values), func(v results.Value) bool { return v.Unit == results.DisturbedUnit })
		s.Values = append(s.Values, results.Value{Unit: results.DisturbedUnit, Figure: share})
		changed.Samples = append(changed.Samples, s)
	}
	return &changed
}

// ns makes samples of a benchmark, one per round.
func ns(name string, figures ...float64) (samples []results.Sample) {
	for _, f := range figures {
		samples = append(samples, results.Sample{Name: name, N: 1_000_000, Values: []results.Value{{Unit: "ns/op", Figure: f}}})
	}
	return samples
}

// A claim holds if the whole interval is within its bound, and no longer holds if the interval
// is outside.
func TestVerdicts(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	o.Count = 6
	none := &lab.Results{}
	for number, verdict := range verdicts(t, none, o) {
		if verdict != "cannot_be_told" || reasons(t, none, o)[number] == "" {
			t.Errorf("claim %d without results: %s, because %q", number, verdict, reasons(t, none, o)[number])
		}
	}
	const protobuf, json = "Echo/impl=protobuf/connections=500", "Echo/impl=json/connections=500"
	for want, ratios := range map[string][]float64{
		"holds":           {1.30, 1.35, 1.38, 1.40, 1.45, 1.50},
		"no_longer_holds": {1.01, 1.02, 1.03, 1.05, 1.10, 1.15},
		"cannot_be_told":  {1.01, 1.30, 1.38, 1.40, 1.45, 1.50},
	} {
		r := &lab.Results{}
		for _, ratio := range ratios {
			r.Samples = append(r.Samples, ns(protobuf, 5000)...)
			r.Samples = append(r.Samples, ns(json, 5000*ratio)...)
		}
		if got := verdicts(t, r, o)[31]; got != want {
			t.Errorf("messages in ratios of %v: %s, want %s", ratios, got, want)
		}
		text, _, _ := render(t, r, lab.ClaimsReport(r, o))
		if words := strings.NewReplacer("cannot_be_told", "undecided", "_", " ").Replace(want); !strings.Contains(text, words) {
			t.Errorf("the text lacks %q", words)
		}
	}
}

func TestAdvise(t *testing.T) {
	o := lab.AdviseOptions{Options: options(t, 1), Dir: t.TempDir(), Task: 250}
	r, err := lab.Advise(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := expectComplete(t, r, 1, lab.AdviseReport(r, o))
	for _, want := range []string{"GOMAXPROCS", "workers for tasks that compute", "tasks of 250ns at a time", "a goroutine for each call", "workers for files"} {
		if !strings.Contains(text, want) {
			t.Errorf("no advice on %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "  unknown  ") {
		t.Error(text)
	}
}

// withCPU makes samples of a benchmark with elapsed and processor time, one per round.
func withCPU(name string, wall, cpu []float64) (samples []results.Sample) {
	for i, s := range ns(name, wall...) {
		s.Values = append(s.Values, results.Value{Unit: "cpu-ns/op", Figure: cpu[i]})
		samples = append(samples, s)
	}
	return samples
}

// A figure of one thread is judged by processor time, which other programs hardly change.
func TestOneThreadIsJudgedByProcessorTime(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	each, loop := lab.SpawnName("muster", "each", 1, 30_000, 1), lab.SpawnName("muster", "sending", 1, 30_000, 1)
	r := &lab.Results{Samples: append(
		withCPU(each, []float64{879, 400, 1300, 900, 2000, 700}, []float64{400, 401, 402, 400, 399, 400}),
		withCPU(loop, []float64{177, 300, 90, 200, 100, 300}, []float64{100, 100, 100, 101, 100, 100})...)}
	for _, share := range []float64{0, 0.85} {
		if got := verdicts(t, withDisturbance(r, share), o)[18]; got != "holds" {
			t.Errorf("4 times the processor time, %v of it taken by others: %s", share, got)
		}
	}
	for i := range r.Samples {
		r.Samples[i].Values = r.Samples[i].Values[:1]
	}
	if got := verdicts(t, withDisturbance(r, 0.85), o)[18]; got != "cannot_be_told" {
		t.Errorf("without processor time: %s", got)
	}
}

// Elapsed times and numbers of threads are no verdict while other programs take the processors.
// Memory is.
func TestDisturbedFiguresAreNoVerdict(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	o.Count = 2
	r := &lab.Results{Conditions: []results.Pair{{Key: "procs", Value: "2"}}}
	for _, procs := range []int{1, 2, 4, 16, 64, 256} {
		for _, s := range ns(lab.ChannelName(0, 0, procs, 0), 100+float64(procs), 100+float64(procs)) {
			s.Values = append(s.Values, results.Value{Unit: "threads", Figure: 5})
			r.Samples = append(r.Samples, s)
		}
	}
	r.Samples = append(r.Samples, results.Sample{Name: lab.SpawnName("muster", "waiting", 0, 1_000_000, 1), N: 1, Values: []results.Value{{Unit: "sys-B/op", Figure: 2700}}})
	for share, want := range map[float64][3]string{
		0:   {"holds", "no_longer_holds", "no_longer_holds"},
		0.5: {"cannot_be_told", "cannot_be_told", "no_longer_holds"},
	} {
		changed := withDisturbance(r, share)
		got, texts := verdicts(t, changed, o), reasons(t, changed, o)
		for i, number := range []int{8, 11, 17} {
			if got[number] != want[i] {
				t.Errorf("claim %d while others take %v: %s, want %s", number, share, got[number], want[i])
			}
		}
		if share > 0 && !strings.Contains(texts[8], "other programs took 50 %") {
			t.Errorf("the reason is %q", texts[8])
		}
		text, _, lines := render(t, changed, lab.ClaimsReport(changed, o))
		if marked := strings.Contains(text, "The machine was disturbed"); marked != (share > 0) {
			t.Errorf("while others take %v the headline is there: %t", share, marked)
		}
		if n := lines[len(lines)-1]["disturbed"].(float64); (n == 7) != (share > 0) {
			t.Errorf("%v figures are disturbed", n)
		}
	}
}

// A figure about which the report warns is no verdict.
func TestMeaninglessFiguresAreNoVerdict(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	const protobuf, json = "Echo/impl=protobuf/connections=500", "Echo/impl=json/connections=500"
	r := &lab.Results{Samples: append(ns(protobuf, 5000, 5000), ns(json, 7000, 7000)...)}
	if got := verdicts(t, r, o)[31]; got != "holds" {
		t.Errorf("1.4 times: %s", got)
	}
	for i := range r.Samples {
		r.Samples[i].N = 10
	}
	if got, why := verdicts(t, r, o)[31], reasons(t, r, o)[31]; got != "cannot_be_told" || !strings.Contains(why, "too-short") {
		t.Errorf("1.4 times in 50 µs: %s, %q", got, why)
	}
}
