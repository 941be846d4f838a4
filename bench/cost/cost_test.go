package main

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Pairs are an old run and a new run of one case. A first run without the other beside it is
// not a pair.
func TestPairsInEvents(t *testing.T) {
	const events = `{"type":"started","cases":3}
{"type":"case_ran","name":"alone","pass":1,"old":false,"cpu_ms":9}
{"type":"case_ran","name":"a","pass":1,"old":true,"cpu_ms":1.5}
{"type":"case_ran","name":"b","pass":1,"old":true,"cpu_ms":2}
{"type":"case_ran","name":"b","pass":1,"old":false,"cpu_ms":2.25}
{"type":"case_ran","name":"a","pass":1,"old":false,"cpu_ms":1.7506}
{"type":"pass_started","pass":2,"costs":false}
{"type":"case_ran","name":"a","pass":2,"old":false,"cpu_ms":7}
{"type":"pass_started","pass":4,"costs":true}
not JSON
{"type":"case_ran","name":"a","pass":4,"old":false,"cpu_ms":3}
{"type":"case_ran","name":"a","pass":4,"old":true,"cpu_ms":4}
{"type":"case_ran","name":"b","pass":4,"old":false,"cpu_ms":5}
{"type":"cost","name":"b","old":true}
`
	got, err := pairsIn(strings.NewReader(events))
	want := []pair{{"b", 2000, 2250}, {"a", 1500, 1751}, {"a", 4000, 3000}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

func TestPairsAreWritten(t *testing.T) {
	var b strings.Builder
	if err := writePairs(&b, 7, []pair{{"a", 1, 2}, {"b", 3, 4}}); err != nil || b.String() != "7,a,1,2\n7,b,3,4\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// An alarm is what the exit status said, whatever the figures; the goals go with the rounds.
func TestReportCountsAlarms(t *testing.T) {
	round := func(ratio float64, fired bool) result {
		return result{Ratio: ratio, Low: ratio - 0.01, High: ratio + 0.01, Pairs: 100, fired: fired}
	}
	same := []result{round(1, false), round(0.98, false), round(1.02, true)}
	more := []result{round(1.05, true), round(1.04, true), round(1.06, true)}
	var b strings.Builder
	report(&b, options{rounds: 3, cases: 150, plus: 50}, same, more)
	for _, want := range []string{
		"3 rounds of 150 cases; ",
		"| the same program | 1 | at most 0 | 0.980 … 1.000 … 1.020 |",
		"| 5.0 % more work | 3 | at least 3 | 1.040 … 1.050 … 1.060 |",
		"reported as faster in 1 rounds.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// What cannot be measured is refused before anything is built.
func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-cases", "0"}, {"-plus", "-1"}, {"-rounds", "x"}, {"-what"}, {"more"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	if _, err := parse([]string{"-h"}, io.Discard); err != flag.ErrHelp {
		t.Errorf("-h: %v", err)
	}
	o, err := parse([]string{"-muster", "bin/m", "-rounds", "7", "-pairs", "p.csv"}, io.Discard)
	if err != nil || o.rounds != 7 || o.cases != 150 || o.plus != 50 || o.pairs != "p.csv" || !filepath.IsAbs(o.muster) {
		t.Errorf("%+v, %v", o, err)
	}
}

// A program has a new file, not the old one written over: it may still run.
func TestFreshCopies(t *testing.T) {
	b := bench{dir: t.TempDir()}
	if err := os.WriteFile(b.path("old.built"), []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.fresh("old"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(b.path("old"))
		info, e := os.Stat(b.path("old"))
		if err != nil || e != nil || string(text) != "program" || info.Mode()&0o111 == 0 {
			t.Errorf("%q, %v, %v", text, err, e)
		}
	}
	if err := b.run(context.Background(), "false"); err == nil {
		t.Error("a command that failed is taken")
	}
}
