package lab_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"muster/lab"
	"muster/lab/results"
)

// uploadNames returns the figures of claims 25 to 29, in their order.
func uploadNames() []string {
	return []string{
		"Upload/engine=direct/bound=false/size=50000", "Upload/engine=pool/bound=false/size=50000",
		"Upload/engine=cthreads/bound=true/size=50000", "Upload/engine=cthreads/bound=false/size=50000",
		"Upload/engine=direct/bound=false/size=5000",
	}
}

// Each available engine receives real uploads, and no file is left.
func TestUploads(t *testing.T) {
	onlyMake(t, compilerScript)
	o := tinyClaims(t)
	o.Probe, o.Cache, o.Count = fakeOptions(t, "uploads", 1).Probe, t.TempDir(), 2
	r, err := lab.Claims(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range uploadNames() {
		if why := r.Why(name); why != "" {
			t.Errorf("%s: %s", name, why)
		}
		n := len(r.Figures(name, "ns/op"))
		if n == 0 && len(r.Missing) > 0 && strings.Contains(name, "cthreads") && strings.Contains(fmt.Sprint(r.Missing), "engine cthreads") {
			continue
		}
		if n != 2 || len(r.Figures(name, "threads")) != 2 {
			t.Errorf("%s has %d figures, want 2", name, n)
		}
	}
	for _, l := range claimLines(t, withDisturbance(r, 0), o)[24:29] {
		if l["here"] == "" && !strings.Contains(l["why"].(string), "threads") { // engines in C may be missing, or the system may not report threads
			t.Errorf("%v", l)
		}
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// A server that does not start, or rejects uploads, does not end the run.
func TestUploadsThatFail(t *testing.T) {
	onlyMake(t, compilerScript)
	o := tinyClaims(t)
	o.Probe, o.Cache = fakeOptions(t, "no-uploads", 1).Probe, t.TempDir()
	r, err := lab.Claims(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	const want = "failed: exit status 3: no room"
	if got := r.Why(uploadNames()[1]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if texts := reasons(t, r, o); !strings.HasSuffix(texts[26], want) || !strings.HasSuffix(texts[29], want) {
		t.Errorf("%q, %q", texts[26], texts[29])
	}
}

// uploadResults makes results of equal rounds of uploads.
func uploadResults(rounds int, ns, threads [5]float64) *lab.Results {
	r := &lab.Results{}
	for range rounds {
		for i, name := range uploadNames() {
			r.Samples = append(r.Samples, results.Sample{Name: name, N: 1_000_000, Values: []results.Value{
				{Unit: "ns/op", Figure: ns[i]}, {Unit: "threads", Figure: threads[i]},
			}})
		}
	}
	return r
}

// Verdicts on uploads, claim by claim: h holds, n no longer holds, c is undecided.
func TestVerdictsOnUploads(t *testing.T) {
	article := [5]float64{1e9 / 1176, 1e9 / 1154, 1e9 / 1045, 1e9 / 1102, 1e9 / 7913}
	many, few := [5]float64{512, 48, 50, 50, 512}, [5]float64{20, 19, 41, 41, 20}
	words := map[byte]string{'h': "holds", 'n': "no_longer_holds", 'c': "cannot_be_told"}
	const slow = "with --dir, name a folder on a slow disk"
	for _, c := range []struct {
		what        string
		rounds      int
		ns, threads [5]float64
		want        string
		why25       string
	}{
		{"the article", 6, article, many, "hhhhh", "keeps a thread"},
		{"one run of the article", 1, article, many, "hcccc", "keeps a thread"},
		{"a disk in memory", 6, article, few, "chhhh", slow},
		{"half as many threads as connections", 6, article, [5]float64{250, 64, 65, 64, 1}, "hhnhh", "keeps a thread"},
		{"one thread fewer", 6, article, [5]float64{249, 64, 64, 64, 1}, "chhhh", slow},
		{"pools that gain", 6, [5]float64{1800, 930, 900, 900, 1000}, many, "hnnnn", "keeps a thread"},
		{"pools that lose", 6, [5]float64{1000, 1200, 1900, 1900, 900}, many, "hnnnn", "keeps a thread"},
		{"unknown threads", 6, article, [5]float64{}, "cccch", "does not report"},
	} {
		o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
		o.Count = c.rounds
		r := uploadResults(c.rounds, c.ns, c.threads)
		got, texts := verdicts(t, r, o), reasons(t, r, o)
		for i := range c.want {
			if got[25+i] != words[c.want[i]] {
				t.Errorf("%s: claim %d: %s, want %s", c.what, 25+i, got[25+i], words[c.want[i]])
			}
		}
		if !strings.Contains(texts[25], c.why25) {
			t.Errorf("%s: %q, want %q", c.what, texts[25], c.why25)
		}
		if hint := strings.Contains(texts[26], "(--dir)"); c.threads[0] > 0 && hint != (c.threads[0] < 250) {
			t.Errorf("%s: %q", c.what, texts[26])
		}
	}
}

// A faster pool has another reason than a slower one.
func TestReasonsOfPools(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	texts := map[string]bool{}
	for _, c := range []struct{ ns, threads float64 }{{500, 48}, {980, 48}, {2000, 48}, {980, 500}} {
		r := uploadResults(2, [5]float64{1000, c.ns, 1, 1, 1}, [5]float64{500, c.threads, 1, 1, 1})
		texts[reasons(t, r, o)[26]] = true
	}
	if len(texts) != 4 {
		t.Errorf("a ratio of 2, 1 and 0.5, and too many threads, have the reasons %v", texts)
	}
}

// Conditions show the bounds that decide the claim.
func TestConditionsHaveBounds(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	want := map[float64]string{
		1: "0.5 to 1.3 processors are busy", 6: "at least 6 times as fast", 17: "4,000 to 4,700 bytes",
		26: "at most 64 threads, and 0.91 to 1.05 times as many uploads", 27: "at most 64 threads, and 0.82 to 0.96 times as many uploads",
	}
	for _, line := range claimLines(t, uploadResults(1, [5]float64{}, [5]float64{}), o) {
		number, condition := line["number"].(float64), line["holds_if"].(string)
		if strings.Contains(condition, "LOW") || strings.Contains(condition, "HIGH") || want[number] != "" && condition != want[number] {
			t.Errorf("claim %v holds if %q, want %q", number, condition, want[number])
		}
	}
}
