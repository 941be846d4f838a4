package verdict

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
)

var stdout = outcome.Key{Place: outcome.Stdout}

func printing(text string) outcome.Outcome {
	return outcome.Outcome{Parts: []outcome.Part{{Key: stdout, Form: outcome.Regular, Digest: outcome.Of([]byte(text)), Size: int64(len(text))}}}
}

// fakeBaseline has the outcome "old" of every case but those that are new.
type fakeBaseline struct{ isNew func(caseName string) bool }

func (b fakeBaseline) Has(caseName string) bool { return !b.isNew(caseName) }
func (b fakeBaseline) OutcomeDigest(caseName string) (d outcome.Digest, known bool) {
	o := printing("old")
	return o.Digest(), b.Has(caseName)
}
func (b fakeBaseline) Get(caseName string) (golden.Record, bool, error) {
	return golden.Record{Name: caseName, Outcome: printing("old"), Runs: 1}, b.Has(caseName), nil
}
func (b fakeBaseline) Content(outcome.Part) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("old")), nil
}

// fakeExecutor prints texts of each case: the first in its first run, and so on. Later runs print
// the last one. Cases whose names begin with "reused" have outcomes of an earlier check. Other cases
// run on an engine.
type fakeExecutor struct {
	exec.Executor
	texts map[string][]string

	mu   sync.Mutex
	runs map[string]int
}

func (f *fakeExecutor) Run(_ context.Context, j exec.Job) (*exec.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	texts, n := f.texts[j.Source.Name], f.runs[j.Source.Name]
	f.runs[j.Source.Name]++
	text := texts[min(n, len(texts)-1)]
	r := exec.NewResult(printing(text), outcome.Cost{}, 0, []exec.Content{{Key: stdout, Bytes: []byte(text)}}, nil)
	if r.Reused = strings.HasPrefix(j.Source.Name, "reused"); r.Reused {
		r.Cost.CPU = time.Hour
	} else {
		r.Engine = &outcome.EngineRun{Worker: fmt.Sprint("worker ", len(f.runs))}
	}
	return r, nil
}

func (f *fakeExecutor) RunAll(ctx context.Context, b exec.Batch) int {
	b.Started(0)
	r, err := f.Run(ctx, b.Jobs[0])
	b.Ended(0, r, err)
	return 1
}

// newLoop returns a Loop for cases, with two retries, and the tasks.
func newLoop(t *testing.T, o Options, e *fakeExecutor, names []string) (*Loop, []pass.Task) {
	t.Helper()
	rules, err := normalize.Parse(nil)
	must(t, err)
	folder, err := state.Open(filepath.Join(t.TempDir(), "state")).NewRun(state.Info{Command: "check"})
	must(t, err)
	o.Costs, err = turns.New(turns.Options{})
	must(t, err)
	o.Journal = &Journal{}
	_, err = o.Journal.Open(folder, nil)
	must(t, err)
	o.Events = run.NewEvents(report.Tee{})
	o.Ledger, o.Numbers.Retries = run.NewLedger(o.Events), 2
	o.Judge = &Judge{
		Baseline: fakeBaseline{func(caseName string) bool { return strings.HasPrefix(caseName, "new") }},
		Found:    &keep.Store{Path: folder.File("found")}, Masks: func(string) bool { return false },
		Rules: rules, Comparer: content.NewComparer(rules), Differences: analyse.NewCollector(rules),
	}
	o.Runner = pass.Runner{Executor: e, Command: func(string) *exec.Command { return &exec.Command{} }, Started: func(pass.Task, int) {}}
	o.Goroutines, o.Jobs, o.Alone = 1, 1, true
	tasks := make([]pass.Task, len(names))
	o.Cases = make([]corpus.Entry, len(names))
	for i, name := range names {
		o.Cases[i].Name = name
		tasks[i] = pass.Task{Index: i, Entry: &o.Cases[i]}
	}
	return New(o), tasks
}

// runLoop runs cases with two retries, and returns how often each ran and the verdicts.
func runLoop(t *testing.T, o Options, names []string, texts map[string][]string) (map[string]int, regress.Verdicts) {
	t.Helper()
	e := &fakeExecutor{texts: texts, runs: map[string]int{}}
	l, tasks := newLoop(t, o, e, names)
	must(t, l.RunFirst(t.Context(), tasks))
	must(t, l.RunFurther(t.Context()))
	o = l.collector.o
	must(t, o.Judge.Found.End(nil))
	reused := 0
	for _, name := range names {
		if strings.HasPrefix(name, "reused") {
			reused++
		}
	}
	if sum := &o.Ledger.Summary; sum.Reused != reused || sum.CPU != 0 {
		t.Errorf("%d cases are reused, want %d, and took %v", sum.Reused, reused, sum.CPU)
	}
	return e.runs, o.Ledger.Summary.Verdicts
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A case that is identical runs once. A case that differs runs three times. If one of these runs
// equals the baseline, the case is flaky.
func TestLoop(t *testing.T) {
	texts := map[string][]string{"same.c": {"old"}, "changed.c": {"now"}, "flaky.c": {"now", "old"}, "new.c": {"now"}}
	runs, verdicts := runLoop(t, Options{}, []string{"same.c", "changed.c", "flaky.c", "new.c"}, texts)
	if want := (map[string]int{"same.c": 1, "changed.c": 3, "flaky.c": 3, "new.c": 3}); !maps.Equal(runs, want) {
		t.Errorf("runs %v, want %v", runs, want)
	}
	want := regress.Verdicts{regress.Identical: 1, regress.Changed: 1, regress.Flaky: 1, regress.New: 1}
	if verdicts != want {
		t.Errorf("verdicts %v, want %v", verdicts, want)
	}
}

// With --runs, every case of a million may wait for its second run. Then it takes few bytes.
func TestMemoryOfUndecided(t *testing.T) {
	const cases, most = 10_000, 48
	e := &fakeExecutor{texts: map[string][]string{}, runs: map[string]int{}}
	var names []string
	for i := range cases {
		name := fmt.Sprint("case", i)
		names, e.texts[name], e.runs[name] = append(names, name), []string{"old"}, 0
	}
	l, tasks := newLoop(t, Options{Numbers: RunNumbers{Identical: 2}}, e, names)
	before := heap()
	must(t, l.RunFirst(t.Context(), tasks))
	took := int64(heap()-before) / cases
	runtime.KeepAlive(tasks)
	must(t, l.RunFurther(t.Context()))
	t.Logf("%d bytes a case", took)
	if took > most {
		t.Errorf("a case takes %d bytes until its second run, more than %d", took, most)
	}
	if sum := l.collector.o.Ledger.Summary; sum.Verdicts[regress.Identical] != cases || e.runs["case7"] != 2 {
		t.Errorf("%v, case7 ran %d times", sum.Verdicts, e.runs["case7"])
	}
}

// If somebody changes the journal meanwhile, no case takes the line of another one: the run ends.
func TestJournalIsChanged(t *testing.T) {
	names, texts := []string{"a", "b"}, map[string][]string{"a": {"old"}, "b": {"now"}}
	for what, change := range map[string]func(whole []byte) []byte{
		"lines in another order": func(whole []byte) []byte {
			lines := bytes.SplitAfter(whole, []byte{'\n'})
			slices.Reverse(lines)
			return bytes.Join(lines, nil)
		},
		"no line":     func([]byte) []byte { return nil },
		"a torn line": func(whole []byte) []byte { return whole[:len(whole)-1] },
	} {
		l, tasks := newLoop(t, Options{Numbers: RunNumbers{Identical: 2}}, &fakeExecutor{texts: texts, runs: map[string]int{}}, names)
		must(t, l.RunFirst(t.Context(), tasks))
		must(t, l.collector.o.Journal.lines.Flush())
		path := filepath.Join(filepath.Dir(l.collector.o.Judge.Found.Path), "cases.jsonl")
		whole, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, change(whole), 0o600))
		if err := l.RunFurther(t.Context()); regress.ClassOf(err) != regress.Input {
			t.Errorf("%s: %v, want an error of class Input", what, err)
		}
		must(t, l.ReportUndecided())
		if is := l.collector.o.Ledger.Summary.Verdicts; is[regress.EnvironmentFailed] > 0 || is.NotIdentical() > 1 {
			t.Errorf("%s: verdicts %v", what, is)
		}
	}
}

// heap returns the bytes that are alive.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A reused outcome gets its verdict like any other, and its cost counts nowhere.
func TestReused(t *testing.T) {
	texts := map[string][]string{"reused.c": {"old"}, "reused-changed.c": {"now"}, "same.c": {"old"}}
	_, verdicts := runLoop(t, Options{}, []string{"reused.c", "reused-changed.c", "same.c"}, texts)
	if want := (regress.Verdicts{regress.Identical: 2, regress.Changed: 1}); verdicts != want {
		t.Errorf("verdicts %v, want %v", verdicts, want)
	}
}

// After enough cases that differ no first run starts. An allowed new case does not count.
func TestFailFast(t *testing.T) {
	texts := map[string][]string{"new.c": {"now"}, "b.c": {"now"}, "c.c": {"now"}}
	for allow, want := range map[bool]map[string]int{false: {"new.c": 3}, true: {"new.c": 3, "b.c": 3}} {
		runs, _ := runLoop(t, Options{FailFast: 1, AllowNew: allow}, []string{"new.c", "b.c", "c.c"}, texts)
		if !maps.Equal(runs, want) {
			t.Errorf("with AllowNew %v: runs %v, want %v", allow, runs, want)
		}
	}
}
