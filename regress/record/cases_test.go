package record

import (
	"reflect"
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

// TestEngineRuns checks that an account of an engine is the same after it was packed and unpacked.
func TestEngineRuns(t *testing.T) {
	e := newCases(nil, true).engine
	full := outcome.EngineRun{Cached: true, Worker: "a", Queued: 1, QueueKnown: true, Took: 2, Measured: true, Asked: 3}
	for v, i := reflect.ValueOf(full), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Fatalf("this test does not know the field %s", v.Type().Field(i).Name)
		}
	}
	all := []*outcome.EngineRun{&full, nil, {}, {Worker: "b", Took: 4, Measured: true}, {Worker: "a", QueueKnown: true}, {Cached: true}}
	var packed []engineRun
	for _, r := range all {
		packed = append(packed, e.pack(r))
	}
	for i, r := range all {
		if got := e.unpack(packed[i]); !reflect.DeepEqual(got, r) {
			t.Errorf("%+v became %+v", r, got)
		}
	}
	if len(e.workers) != 3 {
		t.Errorf("the workers a, b and one without a name are %q", e.workers)
	}
}

// lastVerdict keeps the last verdict that is reported.
type lastVerdict struct{ report.Case }

func (l *lastVerdict) Handle(e report.Event) error {
	if c, ok := e.(report.Case); ok {
		l.Case = c
	}
	return nil
}

func (l *lastVerdict) Close() error { return nil }

// TestEngineOfFirstRun checks that a verdict has the engine's account of the first run, or none if that run
// was before --resume.
func TestEngineOfFirstRun(t *testing.T) {
	for _, first := range []*outcome.EngineRun{{Worker: "first", Took: time.Second}, nil} {
		var got lastVerdict
		p := twoPasses(1, &got)
		ran := []ranCase{{pass: 1, onEngine: first}, {pass: 2, onEngine: &outcome.EngineRun{Worker: "second"}}}
		if first == nil {
			ran = ran[1:]
			p.cases.had[0].runs = 1
		}
		for _, r := range ran {
			r.had.runs = r.pass
			if err := p.count(pass.Task{Entry: &corpus.Entry{Name: "a"}}, r); err != nil {
				t.Fatal(err)
			}
		}
		if got.Name != "a" || !reflect.DeepEqual(got.Engine, first) {
			t.Errorf("the verdict on %q has the account %+v, want %+v", got.Name, got.Engine, first)
		}
	}
}

// TestWorkersOfOneRun checks that nothing is kept of workers that no later run asks for. An engine may have
// as many as there are cases.
func TestWorkersOfOneRun(t *testing.T) {
	p := twoPasses(1)
	p.run.Job.Judge.Repeat = 1
	ran := ranCase{pass: 1, onEngine: &outcome.EngineRun{Worker: "w"}, had: runsBefore{runs: 1}}
	if err := p.count(pass.Task{Entry: &corpus.Entry{Name: "a"}}, ran); err != nil {
		t.Fatal(err)
	}
	if len(p.cases.engine.workers) > 0 {
		t.Errorf("the workers %q are kept", p.cases.engine.workers)
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
