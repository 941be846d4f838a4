package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// engineRun is a check on an engine with two workers, of which one is slow: of n cases every
// third is cached and one differs, and all the others wait for longer than they run.
func engineRun(n int) []Event {
	events := []Event{
		Engine{Command: "check", Doing: "connecting to grpc://engine:8980", At: epoch},
		Engine{Command: "check", Doing: "sending what all cases share, 80 MB unless it has them", Sent: 12e6, At: epoch.Add(3 * time.Second)},
		Started{Command: "check", Run: "20250131-142501-3f9a", Cases: n, Jobs: 8, At: epoch},
	}
	var runs EngineSum
	var cases []Case
	for i := range n {
		at := epoch.Add(5*time.Second + time.Duration(i)*200*time.Millisecond)
		r := &outcome.EngineRun{Worker: fmt.Sprintf("worker-%d", i%2), Queued: 900 * time.Millisecond, QueueKnown: true, Took: time.Duration(1+i%2) * 100 * time.Millisecond}
		if r.Cached = i%3 == 2; !r.Cached {
			r.Asked = r.Queued + r.Took + 20*time.Millisecond
		}
		c := Case{Name: fmt.Sprintf("case%02d.c", i), Index: i, Verdict: regress.Identical, Ending: exit(0), GoldenEnding: exit(0), Cost: outcome.Cost{Wall: r.Took}, Engine: r}
		switch i {
		case 7: // it waited least of all
			r.Queued = 100 * time.Millisecond
			c.Verdict, c.Differences = regress.Changed, []Difference{diffOf("stdout", "one\ntwo\n", "one\n2\n")}
		case 9: // such engines say no more than that it ran
			r.Worker = "on a host\x1b[31m with a name of its own, longer than names are"
			c.Verdict, c.Ending = regress.NewlyFailing, exit(1)
			c.Differences = []Difference{{Part: outcome.EndingPart, Old: "exit 0", Now: "exit 1"}}
		}
		runs.Add(c.Name, r, at)
		events = append(events,
			CaseStarted{Name: c.Name, Pass: 1, At: at.Add(-r.Asked)},
			CaseRan{Name: c.Name, Pass: 1, Wall: r.Took, Differs: c.Verdict != regress.Identical, Engine: r, At: at}, c)
		cases = append(cases, c)
	}
	s := summaryOf("check", cases)
	s.Engine, s.CPU, s.CoresBusy = runs.Runs(), 0, 0.05
	s.Engine.Jobs, s.Engine.Sent, s.Engine.Received = 8, 81_234_567, 43_210
	return append(events, Cost{Why: "the workers of an engine differ, so what a change costs is not told there"}, Finished{s})
}

// Every report says of a run on an engine what ran where and waited how long, and shows no
// figure that the engine did not give.
func TestEngineInReports(t *testing.T) {
	run := engineRun(30)
	var text bytes.Buffer
	for _, v := range []Verbosity{Normal, Verbose} {
		out, errs := feed(t, run, false, 80, func(c Console) Reporter { return NewText(c, v) })
		text.WriteString("== stdout\n" + out + "== stderr\n" + errs)
	}
	folder := t.TempDir()
	junit := writeJUnit(t, filepath.Join(folder, "r.xml"), run)
	checkJUnit(t, junit)
	lines, _ := feed(t, run, false, 80, func(c Console) Reporter { return NewJSON(c, Verbose) })
	page := writeHTML(t, run)
	for file, got := range map[string][]byte{
		"engine.txt":      text.Bytes(),
		"engine.xml":      junit,
		"engine.jsonl":    []byte(lines),
		"engine.events":   write(t, run),
		"engine.md.txt":   writeReport(t, NewMarkdown, filepath.Join(folder, "r.md"), run),
		"engine.page.txt": []byte(parsed(t, page).said()),
	} {
		checkGolden(t, file, got)
		for _, none := range []string{`"cpu_ms":0`, `"peak_rss_kib":0`, "CPU 0", "CPU of the tool", "cores busy"} {
			if strings.Contains(string(got), none) {
				t.Errorf("%s has %q, which no engine said", file, none)
			}
		}
	}
}

// What an engine does give is shown.
func TestEngineThatMeasures(t *testing.T) {
	c := Case{Name: "a", Verdict: regress.New, Ending: exit(0), Cost: outcome.Cost{CPU: time.Second, PeakRSS: 7}, Engine: &outcome.EngineRun{Measured: true}}
	s := summaryOf("check", []Case{c})
	s.Engine = &regress.EngineRuns{Executed: 1}
	out, _ := feed(t, []Event{Started{Command: "check", At: epoch}, c, Finished{s}}, false, 80, func(c Console) Reporter { return NewJSON(c, Normal) })
	for _, want := range []string{`"cpu_ms":1000,`, `"peak_rss_kib":7`, `"cpu_ms":33100,`, `"queued_ms":null`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

// Before the first case it is told what is done, after two seconds at the latest, and then
// what is in flight even where nothing ends.
func TestEngineProgress(t *testing.T) {
	var b bytes.Buffer
	c := &counterLines{err: Stream{Writer: &b}}
	var l tally
	handle := func(ev Event) {
		if err := c.Handle(ev); err != nil {
			t.Fatal(err)
		}
		l.handle(ev)
		fmt.Fprintf(&b, "|%s|\n", l.line(l.last, 100))
	}
	at := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }
	handle(Engine{Command: "check", Doing: "connecting to grpc://engine:8980", At: at(0)})
	handle(Engine{Command: "check", Doing: "connecting to grpc://engine:8980", At: at(2)})
	handle(Engine{Command: "check", Doing: "sending what all cases share, 80 MB unless it has them", Sent: 12e6, At: at(7)})
	handle(Started{Command: "check", Cases: 100, Jobs: 8, At: epoch})
	handle(CaseStarted{Name: "a.c", Pass: 1, At: at(8)})
	handle(Engine{Command: "check", InFlight: 8, Queued: 6, Running: 2, Sent: 81e6, At: at(14)})
	handle(CaseRan{Name: "a.c", Pass: 1, Engine: &outcome.EngineRun{Cached: true}, At: at(15)})
	handle(CaseRan{Name: "b.c", Pass: 1, Engine: &outcome.EngineRun{Asked: time.Second}, At: at(16)})
	handle(Engine{Command: "check", InFlight: 8, At: at(20)})
	checkGolden(t, "engine-progress.txt", b.Bytes())
}

// What is in flight is told less often than what has ended.
func TestNoMoreInFlightThanAreLeft(t *testing.T) {
	var l tally
	l.handle(Started{Command: "check", Cases: 3, At: epoch})
	l.handle(Engine{Command: "check", InFlight: 3, Queued: 1, Running: 2, At: epoch})
	for i := range 2 {
		l.handle(CaseRan{Name: fmt.Sprint(i), Pass: 1, At: epoch.Add(time.Second)})
	}
	if line := l.counter(epoch.Add(time.Second)); !strings.Contains(line, "2/3") || !strings.Contains(line, " 1 in flight,") {
		t.Error(line)
	}
}

// What came before the first case, as connecting and sending, is not counted as its time.
func TestETAAfterALongBeginning(t *testing.T) {
	var l tally
	l.handle(Engine{Command: "check", Doing: "connecting", At: epoch})
	l.handle(Started{Command: "check", Cases: 100, At: epoch})
	now := epoch.Add(time.Minute)
	for i := range 10 {
		l.handle(CaseStarted{Name: fmt.Sprint(i), Pass: 1, At: now})
		now = now.Add(time.Second)
		l.handle(CaseRan{Name: fmt.Sprint(i), Pass: 1, At: now})
	}
	if perSecond, _ := l.rate(now); perSecond != 1 || l.eta(now, perSecond) != "ETA 1m30s" {
		t.Errorf("%v runs per second, %s: want 1, ETA 1m30s", perSecond, l.eta(now, perSecond))
	}
}

// Cached runs take nothing: the time that is left is that of those which are made, however
// many were cached before.
func TestETAWhereHalfIsCached(t *testing.T) {
	for name, c := range map[string]struct {
		cached func(i int) bool
		want   time.Duration
	}{
		"mixed":        {func(i int) bool { return i%2 == 0 }, 2500 * time.Second},
		"cached first": {func(i int) bool { return i < 5000 }, 5000 * time.Second},
	} {
		for _, known := range []time.Duration{0, time.Second} {
			var l tally
			l.handle(Started{Command: "check", Cases: 10_100, Expected: 10_100 * known, At: epoch})
			now := epoch
			for i := range 5100 {
				r := &outcome.EngineRun{Cached: c.cached(i)}
				if now = now.Add(time.Millisecond); !r.Cached {
					now = now.Add(time.Second)
					r.Asked = time.Second
				}
				l.handle(CaseRan{Name: fmt.Sprint(i), Pass: 1, Expected: known, Engine: r, At: now})
			}
			perSecond, _ := l.rate(now)
			left, ok := l.remaining(now, perSecond)
			if left < c.want*9/10 || left > c.want*11/10 || !ok {
				t.Errorf("%s, %v expected: %v left, want about %v", name, known, left, c.want)
			}
		}
	}
}

// While nothing that runs there has ended, or only what was asked for first, nobody knows how
// long it takes: neither by what was cached nor by the first few. From then on it is about right.
func TestETAOfTheFirstRuns(t *testing.T) {
	const each, atOnce, workers, total = 4 * time.Second, 16, 4, 400
	for name, queued := range map[string]bool{"a worker for each": false, "a queue": true} {
		var l tally
		l.handle(Started{Command: "check", Cases: total, At: epoch})
		l.handle(Engine{Command: "check", InFlight: atOnce, At: epoch})
		for i := range 20 {
			l.handle(CaseRan{Name: fmt.Sprint("known", i), Pass: 1, Engine: &outcome.EngineRun{Cached: true}, At: epoch.Add(50 * time.Duration(i) * time.Millisecond)})
		}
		if got := l.eta(epoch.Add(3*time.Second), 6); got != "ETA –" {
			t.Errorf("%s: %s while nothing has ended that was not known", name, got)
		}
		told := false
		for i := range 5 * atOnce {
			asked, at := time.Duration(i/atOnce)*each, time.Duration(1+i/atOnce)*each
			if queued {
				asked, at = max(0, time.Duration(1+(i-atOnce)/workers)*each), time.Duration(1+i/workers)*each
			}
			now := epoch.Add(at + time.Duration(i)*time.Millisecond)
			l.handle(CaseRan{Name: fmt.Sprint(i), Pass: 1, Engine: &outcome.EngineRun{Asked: at - asked}, At: now})
			perSecond, _ := l.rate(now)
			left, ok := l.remaining(now, perSecond)
			if told = told || ok; !ok {
				continue
			}
			pace := each / atOnce
			if queued {
				pace = each / workers
			}
			if want := time.Duration(total-20-i-1) * pace; left < want/2 || left > 2*want {
				t.Errorf("%s: after %d, %v left, want about %v", name, i+1, left, want)
			}
		}
		if !told {
			t.Errorf("%s: nothing was told", name)
		}
	}
}

// Where nearly all is cached the few that are not hold nothing up.
func TestETAWhereNearlyAllIsCached(t *testing.T) {
	var l tally
	l.handle(Started{Command: "check", Cases: 1000, At: epoch})
	l.handle(Engine{Command: "check", InFlight: 2, At: epoch})
	now := epoch
	for i := range 100 {
		now = now.Add(20 * time.Millisecond)
		l.handle(CaseRan{Name: fmt.Sprint(i), Pass: 1, Engine: &outcome.EngineRun{Cached: true}, At: now})
	}
	perSecond, _ := l.rate(now)
	if got := l.eta(now, perSecond); got != "ETA 18s" {
		t.Error(got)
	}
}

// Events of a case say null, not 0, and are read back as they were.
func TestEventsSayWhatIsNotKnown(t *testing.T) {
	file := write(t, []Event{Case{Name: "a", Engine: &outcome.EngineRun{}}, CaseRan{Name: "a", Engine: &outcome.EngineRun{}}, Case{Name: "b"}})
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	for i, want := range []string{`null null`, `null <nil>`, `0 0`} {
		var one struct {
			CPU  json.RawMessage `json:"cpu_ms"`
			Peak json.RawMessage `json:"peak_rss_kib"`
		}
		if err := json.Unmarshal([]byte(lines[i+1]), &one); err != nil {
			t.Fatal(err)
		}
		peak := "<nil>"
		if one.Peak != nil {
			peak = string(one.Peak)
		}
		if got := string(one.CPU) + " " + peak; got != want {
			t.Errorf("%s: %s, want %s", lines[i+1], got, want)
		}
	}
}
