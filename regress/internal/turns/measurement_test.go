package turns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/cost"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

var oldCommand, newCommand = &exec.Command{Words: []string{"old"}}, &exec.Command{Words: []string{"new"}}

// fakeExecutor returns a cost for each command, and counts how often each one was the first of a
// batch.
type fakeExecutor struct {
	exec.Executor
	cpu map[*exec.Command]time.Duration
	err error // of the old command

	mu    sync.Mutex
	first map[*exec.Command]int
}

func (f *fakeExecutor) Floor() int64 { return 0 }

func (f *fakeExecutor) RunAll(_ context.Context, b exec.Batch) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first[b.Jobs[0].Command]++
	for i, j := range b.Jobs {
		b.Started(i)
		if j.Command == oldCommand && f.err != nil {
			b.Ended(i, nil, f.err)
			continue
		}
		c := outcome.Cost{CPU: f.cpu[j.Command], Wall: f.cpu[j.Command], PeakRSS: 1 << 20}
		b.Ended(i, exec.NewResult(outcome.Outcome{}, c, 0, nil, nil), nil)
	}
	return len(b.Jobs)
}

func entries(n int) (list []corpus.Entry) {
	for i := range n {
		list = append(list, corpus.Entry{Name: fmt.Sprintf("%d.c", i)})
	}
	return list
}

// measurement returns a Measurement of 20 cases that ended alike under both commands.
func measurement(t *testing.T, e *fakeExecutor, limit string) *Measurement {
	t.Helper()
	l, err := cost.ParseLimit(limit)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{
		Rival: ReferenceRival(oldCommand), Limits: []cost.Limit{l}, CostCases: 20, FirstPass: 2, Began: time.Now(),
		Command: func(string) *exec.Command { return newCommand },
		Sink:    Sink{Emit: func(report.Event) {}, AddCPU: func(time.Duration) {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Start(e)
	ended := regress.Ending{}
	for i, entry := range entries(20) {
		m.AddCase(pass.Task{Index: i, Entry: &entry}, &report.Case{Verdict: regress.Identical, Ending: &ended, GoldenEnding: &ended})
	}
	return m
}

// Only cases that can be measured are kept: of a million, no other one takes memory.
func TestCasesThatAreKept(t *testing.T) {
	ended := regress.Ending{}
	for _, c := range []struct {
		name  string
		rival Rival
		cases int
		kept  int
	}{
		{"a rival", ReferenceRival(oldCommand), 5, 2},
		{"a rival that does not run the case", Rival{Command: oldCommand, others: []string{"1.c"}}, 5, 1},
		{"recorded costs", Rival{}, 5, 2},
		{"the command that was recorded", Rival{same: true}, 5, 0},
		{"an engine", Rival{Elsewhere: true}, 5, 0},
		{"--cost-cases 0", ReferenceRival(oldCommand), 0, 0},
	} {
		m, err := New(Options{Rival: c.rival, CostCases: c.cases})
		if err != nil {
			t.Fatal(err)
		}
		for i, entry := range entries(2) {
			m.AddCase(pass.Task{Index: i, Entry: &entry}, &report.Case{Verdict: regress.Identical, Ending: &ended, GoldenEnding: &ended})
		}
		if len(m.cases) != c.kept {
			t.Errorf("%s: %d of 2 cases are kept, not %d", c.name, len(m.cases), c.kept)
		}
	}
}

// Of many cases, as many are kept as can be of use: some from everywhere, and those that confirm may run again.
func TestManyCasesThatAreKept(t *testing.T) {
	const cases, last = 10_000, "9999.c"
	m, err := New(Options{
		Rival: ReferenceRival(oldCommand), CostCases: 5,
		Sink: Sink{AddCPU: func(time.Duration) {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := regress.Ending{}
	for i, entry := range entries(cases) {
		task := pass.Task{Index: i, Entry: &entry}
		if entry.Name == last {
			m.AddFirst(task, &Turn{})
		}
		m.AddCase(task, &report.Case{Verdict: regress.Identical, Ending: &ended, GoldenEnding: &ended})
	}
	kept, late := slices.Concat(m.paired, m.cases), 0
	for _, one := range kept {
		if one.task.Index >= cases/2 {
			late++
		}
	}
	if len(kept) != report.CostCasesMax+1 || kept[0].name() != last || late < 900 || late > 1100 {
		t.Errorf("%d cases are kept, %s first, %d of them of the second half", len(kept), kept[0].name(), late)
	}
}

// Each command goes first as often as the other. A limit that the change passes is reported.
func TestMeasure(t *testing.T) {
	for limit, over := range map[string]bool{"cpu>5%": true, "cpu>50%": false} {
		e := &fakeExecutor{cpu: map[*exec.Command]time.Duration{oldCommand: 100 * time.Millisecond, newCommand: 120 * time.Millisecond}, first: map[*exec.Command]int{}}
		m := measurement(t, e, limit)
		c, err := m.Measure(t.Context())
		if err != nil || c.Measured != 20 || c.CPU.Value < 1.19 || c.CPU.Value > 1.21 || (len(c.Over) == 1) != over {
			t.Errorf("%s: %+v, %v", limit, c, err)
		}
		if err := m.RefuseUndecided(c); err != nil {
			t.Errorf("%s: %v", limit, err)
		}
		if e.first[oldCommand] == 0 || e.first[oldCommand] != e.first[newCommand] {
			t.Errorf("first were %v", e.first)
		}
	}
}

// A rival that cannot run ends the measurement. No limit is decided then.
func TestBrokenRival(t *testing.T) {
	m := measurement(t, &fakeExecutor{err: errors.New("no such file"), first: map[*exec.Command]int{}}, "cpu>5%")
	c, err := m.Measure(t.Context())
	if err != nil || !strings.Contains(c.Why, "could not run: no such file") || c.Measured != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if m.RefuseUndecided(c) == nil {
		t.Error("a limit counts as decided")
	}
}

// The cases are chosen at random, and are the same each time. A case that a signal ended says
// nothing about the cost.
func TestChooseCases(t *testing.T) {
	get := func(caseName string) (golden.Record, bool, error) {
		r := golden.Record{Name: caseName}
		if strings.HasPrefix(caseName, "1") {
			r.Outcome.Ending = regress.Ending{Kind: regress.Signalled, Code: 9}
		}
		return r, true, nil
	}
	choose := func(o Options) map[int]bool {
		o.Rival, o.Get = ReferenceRival(oldCommand), get
		m, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := m.ChooseCases(entries(20))
		if err != nil {
			t.Fatal(err)
		}
		return chosen
	}
	if chosen := choose(Options{CostCases: 20}); len(chosen) != 9 || chosen[1] || chosen[10] {
		t.Errorf("%v", chosen)
	}
	if some := choose(Options{CostCases: 3}); len(some) != 3 || !maps.Equal(some, choose(Options{CostCases: 3})) {
		t.Errorf("%v", some)
	}
	if chosen := choose(Options{CostCases: 3, FailFast: true}); chosen != nil {
		t.Errorf("%v are chosen, though the run may end with the first of them", chosen)
	}
}
