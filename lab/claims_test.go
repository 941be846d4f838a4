package lab_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/lab"
	"muster/lab/results"
)

func tinyClaims(t *testing.T) lab.ClaimsOptions {
	o := lab.ClaimsOptions{Options: options(t, 1), Dir: t.TempDir(), Sizes: lab.ClaimSizes{
		Cases: 20, CaseBytes: 2000, Tasks: 1000, Items: 1000, Roots: 2000, Alive: 100, Goroutines: 1000,
		Renames: 100, Uploads: 20, Rows: 30, ThreadsLimit: 100,
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

// ns makes samples of a benchmark, one per round.
func ns(name string, figures ...float64) (samples []results.Sample) {
	for _, f := range figures {
		samples = append(samples, results.Sample{Name: name, N: 1000, Values: []results.Value{{Unit: "ns/op", Figure: f}}})
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
