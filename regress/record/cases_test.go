package record

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
)

// twoPasses returns passes that run every case twice, and report to reporters.
func twoPasses(cases int, reporters ...report.Reporter) *passes {
	r := &run.Run{Events: run.NewEvents(report.Tee(reporters)), Inputs: &run.Inputs{}, Began: time.Now()}
	r.Ledger = run.NewLedger(r.Events)
	r.Job.Judge.Repeat = 2
	return &passes{run: r, cases: newCases(make(pass.Durations, cases), true), failing: failures{run: r}}
}

// All cases wait for their second run at once. A million of them must fit into little memory.
func TestMemoryOfSecondRuns(t *testing.T) {
	const cases, most = 10_000, 136
	before := heap()
	p := twoPasses(cases)
	for i := range cases {
		ran := ranCase{pass: 1, onEngine: &outcome.EngineRun{Worker: strings.Clone("worker")}, record: golden.Record{Name: "a"}, had: runsBefore{runs: 1}}
		if err := p.count(pass.Task{Index: i, Entry: &corpus.Entry{Name: "a"}}, ran); err != nil {
			t.Fatal(err)
		}
	}
	took := int64(heap()-before) / cases
	runtime.KeepAlive(p)
	t.Logf("%d bytes a case", took)
	if took > most {
		t.Errorf("a case takes %d bytes until its second run, more than %d", took, most)
	}
}

// heap returns the bytes that are alive.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestUntilSecond checks that a lane waits for the last of its cases, and for no other.
func TestUntilSecond(t *testing.T) {
	c := newCases(make(pass.Durations, 4), false) // the last one ran before this process began
	c.firstEnded[0], c.firstEnded[1], c.firstEnded[2] = 2*time.Second, 5*time.Second, 3*time.Second
	for want, indexes := range map[time.Duration][]int{3: {0}, 4: {2, 0}, 6: {1, 2}, 1: {3}} {
		var tasks []pass.Task
		for _, i := range indexes {
			tasks = append(tasks, pass.Task{Index: i})
		}
		if got := c.untilSecond(tasks, time.Second); got != want*time.Second {
			t.Errorf("%v: %v, want %v", indexes, got, want*time.Second)
		}
	}
}
