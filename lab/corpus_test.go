package lab_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/lab"
	"muster/lab/corpora"
	"muster/lab/results"
)

// Runs over a corpus have the user and the system time of their compilers: those of the runner and those of make.
func TestCorpusHasCPUTimes(t *testing.T) {
	onlyMake(t, `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; : >"$4"`)
	dir := t.TempDir()
	spec := corpora.Spec{Name: "test", Cases: 4, Bytes: 8000, Sigma: 0.5, Seed: 1}
	archive, sources := filepath.Join(dir, "corpus.tar"), filepath.Join(dir, "sources")
	if err := corpora.Write(archive, spec); err != nil {
		t.Fatal(err)
	}
	if err := corpora.Unpack(sources, spec); err != nil {
		t.Fatal(err)
	}
	for question, from := range map[string]string{"corpus": archive, "make": sources} {
		work := filepath.Join(dir, question)
		if err := os.Mkdir(work, 0o700); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		tcc := filepath.Join(os.Getenv("PATH"), "tcc")
		if err := lab.Probe(t.Context(), []string{question, "-options", `{"Jobs":1}`, "-word", from, "-word", tcc, "-word", "-c", "-dir", work}, nil, &said); err != nil {
			t.Fatal(question, err)
		}
		s, err := results.ParseLine(said.String())
		if err != nil {
			t.Fatal(err)
		}
		cpu, _ := s.Value(results.CPUPerOp)
		user, _ := s.Value("user-ns/op")
		system, ok := s.Value("sys-ns/op")
		if !ok || user < 1e6 || user+system < 0.99*cpu || user+system > 1.01*cpu {
			t.Errorf("%s: a compiler that counts to 20,000 took %.0f ns of user and %.0f of system time: %s", question, user, system, said.String())
		}
	}
}

// The report of the claims has the times of the article: elapsed, user, system, and how idle the processors were.
func TestCorpusTable(t *testing.T) {
	o := tinyClaims(t)
	r := &lab.Results{Conditions: []results.Pair{{Key: "procs", Value: "2"}}}
	for name, wall := range map[string]float64{"impl=muster/jobs=0": 1e8, "impl=make/jobs=2": 2e8} {
		r.Samples = append(r.Samples, results.Sample{Name: "Corpus/" + name, N: 20, Values: []results.Value{
			{Unit: results.NsPerOp, Figure: wall}, {Unit: results.CPUPerOp, Figure: 5e7}, {Unit: "user-ns/op", Figure: 4e7}, {Unit: "sys-ns/op", Figure: 1e7},
		}})
	}
	var text strings.Builder
	if err := lab.ClaimsReport(r, o).Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{`muster, one after another +2 +0\.800 +0\.200 +75 %\n`, `make -j2 +4 +0\.800 +0\.200 +88 %\n`, `muster, 1 worker +– +– +– +–\n`} {
		if !regexp.MustCompile(row).MatchString(text.String()) {
			t.Errorf("no row %s in:\n%.3000s", row, text.String())
		}
	}
	if err := lab.ClaimsReport(r, o).HTML(io.Discard); err != nil {
		t.Error(err)
	}
}
