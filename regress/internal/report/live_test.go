package report

import (
	"bytes"
	"fmt"
	"muster/regress"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// liveConsole is a console whose streams are one screen.
func liveConsole(s *screen, columns int) Console {
	stream := Stream{Writer: s, Terminal: true, Colour: true, Width: func() int { return columns }}
	return Console{Out: stream, Err: stream, Shared: true}
}

func handle(t *testing.T, r Reporter, events ...Event) {
	t.Helper()
	for _, ev := range events {
		if err := r.Handle(ev); err != nil {
			t.Fatal(err)
		}
	}
}

// What reduce runs on an engine is not counted: once it runs, the line is reduce's own, and
// nothing is drawn over it.
func TestLiveUncounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		r := NewText(liveConsole(s, 70), Normal)
		defer r.Close()
		var b bytes.Buffer
		lines := &counterLines{err: Stream{Writer: &b}}
		for i := range 20 {
			ev := Engine{Command: "reduce", Doing: "its preflight", InFlight: 2, At: time.Now()}
			if i >= 5 {
				ev.Doing = ""
			}
			handle(t, r, ev)
			handle(t, lines, ev)
			<-time.After(time.Second)
			synctest.Wait()
			if drawn := strings.HasPrefix(s.String(), "reduce  its preflight"); drawn != (i < 5) {
				t.Errorf("after %d: %q", i, s.String())
			}
		}
		if strings.Contains(strings.Join(s.drawn, "\n")+b.String(), "0/0") || !strings.Contains(b.String(), "its preflight") {
			t.Errorf("%q, %q", s.drawn, b.String())
		}
	})
}

// A whole run on a terminal: the line moves, results appear above it, and in
// the end nothing of it is left. The bubble ends only when every goroutine
// has, so nothing ticks after Close.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		r := NewText(liveConsole(s, 70), Normal)
		began := time.Now()
		handle(t, r, Started{Command: "check", Run: "run", Cases: 3, Jobs: 2, At: began},
			CaseStarted{Name: "a.go", Pass: 1, At: began}, CaseStarted{Name: "slow.go", Pass: 1, At: began})
		<-time.After(2 * time.Second)
		handle(t, r, CaseRan{Name: "a.go", Pass: 1, Differs: true, At: time.Now(), CPU: time.Second},
			verdictCases()[0], Note{Text: "something", Warning: true})
		<-time.After(time.Second)
		synctest.Wait()
		if !strings.HasPrefix(s.String(), "changed        a/b.go\n  stdout") || !strings.Contains(s.String(), "\nwarning: something\n") {
			t.Errorf("results are not above the line:\n%s", s)
		}
		if want := "\ncheck  1/3  20/min  0.33 cores busy  ETA 6s  1 differ  longest 3.0s …"; !strings.HasSuffix(s.String(), want) {
			t.Errorf("the line is not last and %q:\n%s", want, s)
		}
		handle(t, r, PassStarted{Pass: 2, Runs: 2, At: time.Now()})
		<-time.After(time.Second)
		handle(t, r, Finished{regress.Summary{Command: "check", Run: "run", Cases: 3, Verdicts: regress.Verdicts{0, 0, 0, 0, 0, 0, 0, 1}, ExitStatus: 1}})
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if s.err != nil {
			t.Error(s.err)
		}
		for _, want := range []string{"check  0/3  –/s  ETA –  longest 1.0s a.go", "retry  0/2  –/s  ETA –  1 differ  longest 3.9s slow.go"} {
			if !strings.Contains(strings.Join(s.drawn, "\n"), want) {
				t.Errorf("%q was never drawn; what was:\n%s", want, strings.Join(s.drawn, "\n"))
			}
		}
		checkGolden(t, "live.txt", []byte(s.String()+"\n"))
	})
}

// A run that breaks off leaves no line and no goroutine; what is written
// afterwards goes straight through.
func TestLiveBrokenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		l := &liveProgress{console: liveConsole(s, 80)}
		handle(t, l, Started{Command: "check", Cases: 3, At: time.Now()})
		<-time.After(time.Second)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if s.String() != "" || len(s.drawn) == 0 {
			t.Errorf("%q is left of the line %q", s, s.drawn)
		}
		fmt.Fprintln(l, "after")
		if err := l.Close(); err != nil || s.String() != "after" {
			t.Errorf("%q, %v", s, err)
		}
	})
}

// A retracted case is not done. So the progress never exceeds the number of cases.
func TestProgressOfRetracted(t *testing.T) {
	var b bytes.Buffer
	c := &counterLines{err: Stream{Writer: &b}}
	at := time.Now()
	handle(t, c, Started{Command: "check", Cases: 2, Expected: 2 * time.Second, At: at})
	for _, forked := range []bool{true, false} {
		for _, name := range []string{"a", "b"} {
			handle(t, c, CaseRan{Name: name, Pass: 1, Expected: time.Second, Forked: forked, At: at})
		}
		for _, name := range []string{"a", "b"} {
			if forked {
				handle(t, c, Retracted{Name: name, Expected: time.Second, At: at})
			}
		}
	}
	if c.tally.position() != "2/2" || c.tally.ofThat != c.tally.expected {
		t.Errorf("%s, %s of %s", c.tally.position(), c.tally.ofThat, c.tally.expected)
	}
}

// Results that go elsewhere than the progress line are not held back by it.
func TestLiveWithResultsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out := &screen{}, &bytes.Buffer{}
		c := liveConsole(s, 80)
		c.Out, c.Shared = Stream{Writer: out}, false
		r := NewText(c, Verbose)
		handle(t, r, Started{Command: "check", Cases: 3, At: time.Now()}, verdictCases()[0])
		if !strings.Contains(out.String(), "+2\n") {
			t.Errorf("out has %q", out)
		}
		if err := r.Close(); err != nil || s.String() != "" {
			t.Errorf("%v, the screen shows %q", err, s)
		}
	})
}
