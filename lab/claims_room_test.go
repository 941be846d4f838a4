package lab_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/lab"
	"muster/lab/results"
)

// onlyMake leaves nothing in PATH but a shell, make and a compiler that is this script:
// no contestant can be built, and the corpus is compiled at once.
func onlyMake(t *testing.T, compiler string) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"sh", "make", "sleep"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(bin, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "tcc"), []byte("#!/bin/sh\n"+compiler), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("JAVA_HOME", "")
}

// corpusOnly are options of which nothing but make is measured.
func corpusOnly(t *testing.T) lab.ClaimsOptions {
	t.Helper()
	o := tinyClaims(t)
	o.Probe = faked(t, "make", 1).Probe
	o.Cache = t.TempDir()
	return o
}

const compiles = `: >"$4"`

// Flags of a make that muster was started from do not keep make from its work.
func TestMakeIsItsOwn(t *testing.T) {
	onlyMake(t, compiles)
	t.Setenv("MAKEFLAGS", "n")
	r, err := lab.Claims(t.Context(), corpusOnly(t))
	if why := whyNoMake(r); err != nil || why != "" {
		t.Errorf("%v, %q", err, why)
	}
}

// Make works where nothing can be written but among the sources.
func TestMakeNeedsNoOtherFolder(t *testing.T) {
	onlyMake(t, compiles)
	sources := t.TempDir()
	if err := os.WriteFile(filepath.Join(sources, "a.c"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", filepath.Join(sources, "none"))
	var said bytes.Buffer
	err := lab.Probe(t.Context(), []string{"make", "-sources", sources, "-word", "tcc", "-word", "-c"}, nil, &said)
	if err != nil || !strings.HasPrefix(said.String(), "Benchmarkmake 1 ") {
		t.Errorf("%v, %q", err, said.String())
	}
}

// whyNoMake is why there is no figure of make's.
func whyNoMake(r *lab.Results) string {
	for _, a := range r.Absent {
		if strings.HasPrefix(a.Name, "Corpus/impl=make/") {
			return a.Why
		}
	}
	return ""
}

// A make that compiles nothing is no figure, and keeps nothing else from being measured.
func TestMakeThatFails(t *testing.T) {
	onlyMake(t, "echo no room >&2; exit 1")
	r, err := lab.Claims(t.Context(), corpusOnly(t))
	if why := whyNoMake(r); err != nil || why != "failed: exit status 3: make compiled 0 of 20 sources: no room" {
		t.Errorf("where nothing compiles: %v, %q", err, why)
	}
}

// An interruption ends make with the compilers that it has started.
func TestInterruptedMake(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	onlyMake(t, "exec >'"+pipe+"'\necho begun\nsleep 3600\n")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	gone := make(chan error)
	go func() {
		f, err := os.Open(pipe)
		if err == nil {
			_, err = io.ReadFull(f, make([]byte, 6))
			interrupt()
			_, e := io.Copy(io.Discard, f) // until nobody holds it any longer
			err = errors.Join(err, e)
		}
		gone <- err
	}()
	o := corpusOnly(t)
	if _, err := lab.Claims(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// ended is what claims that are interrupted before their first figure have.
func ended(t *testing.T, o lab.ClaimsOptions) *lab.Results {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	r, err := lab.Claims(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return r
}

// Figures of two compilers are not mixed, and the journal of a run that had none learns of
// the one that there is now.
func TestClaimsGoOnWithTheSameCompiler(t *testing.T) {
	onlyMake(t, compiles)
	o := corpusOnly(t)
	r := ended(t, o)
	r.Samples = ns("Corpus/impl=muster/jobs=0", 100)
	last := len(r.Conditions) - 1
	if r.Conditions[last].Key != "corpus" {
		t.Fatal(r.Conditions)
	}
	r.Conditions[last].Value += ", another compiler"
	earlier := func() io.Reader {
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	o.Earlier = earlier()
	_, err := lab.Claims(t.Context(), o)
	mistake(t, err)
	if err == nil || !strings.Contains(err.Error(), "corpus") {
		t.Errorf("another compiler: %v", err)
	}
	r.Conditions = r.Conditions[:last]
	var journal bytes.Buffer
	o.Earlier, o.Journal = earlier(), &journal
	ended(t, o)
	if said := journal.String(); !strings.HasPrefix(said, "corpus: 20 sources") {
		t.Errorf("the journal gets %q", said)
	}
}

// What is missing is named where it is what a claim needs, and nowhere else.
func TestMissingIsNamedWhereItIsNeeded(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	o.Sizes.Alive, o.Sizes.Roots = 50_000, 5_000_000
	r := &lab.Results{Missing: []results.Missing{
		{Peer: "a corpus of C sources", Reason: "no C compiler", Install: "tcc"},
		{Peer: "codec", Reason: "no go", Install: "Go"},
		{Peer: "PostgreSQL", Reason: "no server", Install: "postgresql"},
		{Peer: "engine cthreads", Reason: "no cgo"},
	}}
	texts := why(t, r, o)
	for number, want := range map[int]string{1: "no C compiler", 15: "no server", 31: "no go", 25: "it was not measured"} {
		if number == 1 && strings.Contains(texts[1], "one processor") {
			continue
		}
		if !strings.Contains(texts[number], want) {
			t.Errorf("claim %d: %q, want %q", number, texts[number], want)
		}
	}
	for _, number := range []int{17, 23, 30, 32} {
		if !strings.Contains(texts[number], "it was not measured") {
			t.Errorf("claim %d: %q", number, texts[number])
		}
	}
}

// Whether a goroutine's cost is within its bound is told by the interval, as all is.
func TestAddedCostHasAnInterval(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	o.Sizes.Alive, o.Sizes.Roots = 50_000, 5_000_000
	each, direct := lab.SpawnName("muster", "each", 1, 50_000, 1), lab.SpawnName("muster", "direct", 1, 5_000_000, 1)
	r := &lab.Results{Samples: append(ns(each, 60, 70, 120, 121, 130, 140), ns(direct, 5, 5, 5, 5, 5, 5)...)}
	if got := verdicts(t, r, o)[23]; got != "cannot_be_told" {
		t.Errorf("from 55 to 135 ns added, more than 100 wanted: %s", got)
	}
}

// The caller's GOMAXPROCS is in no figure that does not name it.
func TestProbesHaveTheirOwnProcs(t *testing.T) {
	t.Setenv("GOMAXPROCS", "77")
	o := tinyIO(t, options(t, 1))
	o.Probe = []string{"sh", "-c", `test "$GOMAXPROCS" != 77 && echo BenchmarkX 1 5 ns/op`}
	if _, err := lab.IO(t.Context(), o); err != nil && strings.Contains(err.Error(), "Files/") {
		t.Error(err)
	}
}

// Without a folder to compile into, what needs no contestant is measured.
func TestNoCache(t *testing.T) {
	o := scripted(t, 1)
	o.Cache = ""
	o.Peers = []string{"muster"}
	if _, err := lab.Dispatch(t.Context(), tinyDispatch(o)); err != nil {
		t.Error(err)
	}
	o.Peers = []string{"go"}
	if r, err := lab.Dispatch(t.Context(), tinyDispatch(o)); err != nil || len(r.Missing) != 1 || !strings.Contains(r.Missing[0].Reason, "HOME") {
		t.Errorf("a contestant without a folder: %v, %+v", err, r)
	}
}

func TestNegativeTask(t *testing.T) {
	_, err := lab.Advise(t.Context(), lab.AdviseOptions{Options: scripted(t, 1), Task: -5})
	mistake(t, err)
}

// A figure beyond the upper end of a bound is not explained by what would have it below.
func TestReasonsAreOfTheSide(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	o.Sizes.Alive, o.Sizes.Roots = 50_000, 5_000_000
	each, direct := lab.SpawnName("muster", "each", 1, 50_000, 1), lab.SpawnName("muster", "direct", 1, 5_000_000, 1)
	texts := map[string]bool{}
	for _, factor := range []float64{2, 4, 8} {
		r := &lab.Results{Samples: append(ns(each, 10*factor, 10*factor), ns(direct, 10, 10)...)}
		texts[why(t, r, o)[18]] = true
	}
	if len(texts) != 3 {
		t.Errorf("2, 4 and 8 times, where 3 to 5 are claimed, are explained by %v", texts)
	}
}

// What the caller has Go's runtime do is a condition.
func TestSettingsOfGoAreConditions(t *testing.T) {
	t.Setenv("GOGC", "off")
	t.Setenv("GODEBUG", "")
	t.Setenv("GOMEMLIMIT", "")
	o := scripted(t, 1)
	r, err := lab.Dispatch(t.Context(), tinyDispatch(o))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Conditions {
		if c.Key == "goenv" && c.Value == "GOGC=off" {
			return
		}
	}
	t.Error(r.Conditions)
}

// A folder in which nothing can be written is refused before anything is measured.
func TestFolderThatCannotBeWritten(t *testing.T) {
	if info, err := os.Stat("/proc"); err != nil || !info.IsDir() {
		return // where there is none that root too cannot write
	}
	_, err := lab.Advise(t.Context(), lab.AdviseOptions{Options: scripted(t, 1), Dir: "/proc"})
	mistake(t, err)
}

// One run is no verdict on what was timed, for nothing tells how far chance moved it.
func TestOneRunIsNoVerdict(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	o.Sizes.Alive, o.Sizes.Roots = 50_000, 5_000_000
	each, direct := lab.SpawnName("muster", "each", 1, 50_000, 1), lab.SpawnName("muster", "direct", 1, 5_000_000, 1)
	r := &lab.Results{Samples: append(ns(each, 40), ns(direct, 10)...)}
	if got := verdicts(t, r, o)[18]; got != "cannot_be_told" {
		t.Errorf("4 times in one run is %s", got)
	}
	r.Samples = append(ns(each, 40, 40), ns(direct, 10, 10)...)
	if got := verdicts(t, r, o)[18]; got != "holds" {
		t.Errorf("4 times in two runs is %s", got)
	}
}

// A run over the corpus that is over at once is of the start of the workers, and tells
// nothing of them.
func TestShortCorpusTellsNothing(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	r := &lab.Results{Samples: append(ns("Corpus/impl=muster/jobs=0", 1e6, 1e6), ns("Corpus/impl=muster/jobs=1", 1e6, 1e6)...)}
	for cases, want := range map[int]string{100: "cannot_be_told", 10_000: "holds"} {
		o.Sizes.Cases = cases
		if got := verdicts(t, r, o)[2]; got != want {
			t.Errorf("%d sources of a millisecond: %s, want %s", cases, got, want)
		}
	}
}
