package lab_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"muster/lab"
	"muster/lab/results"
)

// onlyMake restricts PATH to a shell, make and a compiler that is the given script. No
// contestant can be built, and the corpus is compiled at once.
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

// corpusOnly returns options that measure nothing but make; the other probes are fakes.
func corpusOnly(t *testing.T) lab.ClaimsOptions {
	t.Helper()
	o := tinyClaims(t)
	o.Probe = fakeOptions(t, "make", 1).Probe
	o.Cache = t.TempDir()
	return o
}

const compilerScript = `: >"$4"`

// The flags of a parent make must not reach this make.
func TestMakeIsItsOwn(t *testing.T) {
	onlyMake(t, compilerScript)
	t.Setenv("MAKEFLAGS", "n")
	r, err := lab.Claims(t.Context(), corpusOnly(t))
	if why := whyNoMake(r); err != nil || why != "" {
		t.Errorf("%v, %q", err, why)
	}
}

// A variable whose value has MAKE in it is not make's: the shim of a compiler may need it.
func TestMakeKeepsOtherVariables(t *testing.T) {
	onlyMake(t, `test "$TOOLS" = /opt/MAKE && `+compilerScript)
	t.Setenv("TOOLS", "/opt/MAKE")
	r, err := lab.Claims(t.Context(), corpusOnly(t))
	if why := whyNoMake(r); err != nil || why != "" {
		t.Errorf("%v, %q", err, why)
	}
}

// A folder may have a name that is not UTF-8.
func TestClaimsInAnyFolder(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("this system refuses such names")
	}
	onlyMake(t, compilerScript)
	o := corpusOnly(t)
	o.Dir = filepath.Join(t.TempDir(), "\xff")
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := lab.Claims(t.Context(), o)
	if err != nil || whyNoMake(r) != "" {
		t.Error(r, err)
	}
}

// Make needs to write only among the sources.
func TestMakeNeedsNoOtherFolder(t *testing.T) {
	onlyMake(t, compilerScript)
	sources := t.TempDir()
	if err := os.MkdirAll(filepath.Join(sources, "src/000"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sources, "src/000/a.c"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", filepath.Join(sources, "none"))
	var said bytes.Buffer
	err := lab.Probe(t.Context(), []string{"make", "-options", `{"Jobs":1}`, "-word", sources, "-word", "tcc", "-word", "-c", "-dir", t.TempDir()}, nil, &said)
	if err != nil || !strings.HasPrefix(said.String(), "Benchmarkmake 1 ") {
		t.Errorf("%v, %q", err, said.String())
	}
}

// whyNoMake returns the reason why make has no figure.
func whyNoMake(r *lab.Results) string {
	for _, a := range r.Absent {
		if strings.HasPrefix(a.Name, "Corpus/impl=make/") {
			return a.Why
		}
	}
	return ""
}

// A make that compiles nothing gives no figure, and does not end the run.
func TestMakeThatFails(t *testing.T) {
	onlyMake(t, "echo no room >&2; exit 1")
	r, err := lab.Claims(t.Context(), corpusOnly(t))
	if why := whyNoMake(r); err != nil || why != "failed: exit status 3: make compiled 0 of 20 sources: no room" {
		t.Errorf("with a failing compiler: %v, %q", err, why)
	}
}

// An interruption ends make and its compilers.
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
			_, e := io.Copy(io.Discard, f) // until no process has it open
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
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// interruptedClaims returns the results of claims that were interrupted before their first
// figure.
func interruptedClaims(t *testing.T, o lab.ClaimsOptions) *lab.Results {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	r, err := lab.Claims(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return r
}

// Figures of two compilers are not mixed. If the earlier run had no compiler, the journal
// receives the current one.
func TestClaimsGoOnWithTheSameCompiler(t *testing.T) {
	onlyMake(t, compilerScript)
	o := corpusOnly(t)
	r := interruptedClaims(t, o)
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
	expectInputError(t, err)
	if err == nil || !strings.Contains(err.Error(), "corpus") {
		t.Errorf("another compiler: %v", err)
	}
	r.Conditions = r.Conditions[:last]
	var journal bytes.Buffer
	o.Earlier, o.Journal = earlier(), &journal
	interruptedClaims(t, o)
	if text := journal.String(); !strings.HasPrefix(text, "corpus: 20 sources") {
		t.Errorf("the journal gets %q", text)
	}
}

// A claim names a missing requirement only if it needs it.
func TestMissingIsNamedWhereItIsNeeded(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	o.Sizes.Alive, o.Sizes.Roots = 50_000, 5_000_000
	r := &lab.Results{Missing: []results.Missing{
		{Peer: "a corpus of C sources", Reason: "no C compiler", Install: "tcc"},
		{Peer: "inserts", Reason: "no proxy", Install: "Go"},
		{Peer: "engine cthreads", Reason: "no cgo"},
	}}
	texts := reasons(t, r, o)
	for number, want := range map[int]string{1: "no C compiler", 15: "no proxy", 25: "it was not measured"} {
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

// A timed figure is judged by its interval, which one run lacks. The reason depends on the side on
// which it misses its bound.
func TestVerdictsOnGoroutines(t *testing.T) {
	o := lab.ClaimsOptions{Sizes: lab.ClaimsQuick()}
	o.Sizes.Alive, o.Sizes.Roots = 50_000, 5_000_000
	for _, c := range []struct {
		number     int
		each, loop []float64
		want, why  string
	}{
		{23, []float64{60, 70, 120, 121, 130, 140}, []float64{5, 5, 5, 5, 5, 5}, "cannot_be_told", "crosses the bound"}, // more than 100 ns added
		{18, []float64{40}, []float64{10}, "cannot_be_told", "only one run"},                                            // 3 to 5 times as long
		{18, []float64{20, 20}, []float64{10, 10}, "no_longer_holds", "the start of a goroutine has become faster"},
		{18, []float64{40, 40}, []float64{10, 10}, "holds", "both have become faster"},
		{18, []float64{80, 80}, []float64{10, 10}, "no_longer_holds", "new memory for their stacks"},
	} {
		r := &lab.Results{Samples: append(ns(lab.SpawnName("muster", "each", 1, 50_000, 1), c.each...), ns(lab.SpawnName("muster", "sending", 1, 50_000, 1), c.loop...)...)}
		if got, why := verdicts(t, r, o)[c.number], reasons(t, r, o)[c.number]; got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("claim %d, %v in goroutines, %v in a loop: %s, %q, want %s, %q", c.number, c.each, c.loop, got, why, c.want, c.why)
		}
	}
}

// Figures are independent of the caller's GOMAXPROCS, unless they name it.
func TestProbesHaveTheirOwnProcs(t *testing.T) {
	t.Setenv("GOMAXPROCS", "77")
	o := tinyIO(t, options(t, 1))
	o.Probe = []string{"sh", "-c", `test "$GOMAXPROCS" != 77 && echo BenchmarkX 1 5 ns/op`}
	if _, err := lab.IO(t.Context(), o); err != nil && strings.Contains(err.Error(), "Files/") {
		t.Error(err)
	}
}

// Without a folder for compiled contestants, the rest is measured.
func TestNoCache(t *testing.T) {
	o := scriptedOptions(t, 1)
	o.Cache = ""
	o.Peers = []string{"muster"}
	if _, err := lab.Dispatch(t.Context(), tinyDispatch(o)); err != nil {
		t.Error(err)
	}
	o.Peers = []string{"go"}
	if r, err := lab.Dispatch(t.Context(), tinyDispatch(o)); err != nil || len(r.Missing) != 1 || !strings.Contains(r.Missing[0].Reason, "HOME") {
		t.Errorf("a contestant without a cache folder: %v, %+v", err, r)
	}
}

func TestNegativeTask(t *testing.T) {
	_, err := lab.Advise(t.Context(), lab.AdviseOptions{Options: scriptedOptions(t, 1), Task: -5})
	expectInputError(t, err)
}

// Variables that change Go's runtime are a condition.
func TestSettingsOfGoAreConditions(t *testing.T) {
	t.Setenv("GOGC", "off")
	t.Setenv("GODEBUG", "")
	t.Setenv("GOMEMLIMIT", "")
	o := scriptedOptions(t, 1)
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

// A folder that cannot be written is rejected before the measurements.
func TestFolderThatCannotBeWritten(t *testing.T) {
	if info, err := os.Stat("/proc"); err != nil || !info.IsDir() {
		return // this system has no folder that root cannot write to
	}
	_, err := lab.Advise(t.Context(), lab.AdviseOptions{Options: scriptedOptions(t, 1), Dir: "/proc"})
	expectInputError(t, err)
}

// The start of the workers dominates a short run over the corpus, so it has no verdict.
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
