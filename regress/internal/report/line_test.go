package report

import (
	"bytes"
	"fmt"
	"muster/regress"
	"strings"
	"testing"
	"time"
)

// The progress line at moments of a check with retries, on terminals of
// several widths.
func TestLine(t *testing.T) {
	var b bytes.Buffer
	for _, columns := range []int{120, 80, 40} {
		fmt.Fprintf(&b, "== %d columns\n", columns)
		drawRun(&b, "check", columns)
	}
	b.WriteString("== record\n")
	drawRun(&b, "record", 120)
	checkGolden(t, "line.txt", b.Bytes())
}

// drawRun draws the line now and then while a run goes on.
func drawRun(b *bytes.Buffer, command string, columns int) {
	var l tally
	draw := func(after time.Duration) {
		line := l.line(l.last.Add(after), columns-1)
		if width := textColumns(line); width >= columns {
			fmt.Fprintf(b, "%d COLUMNS: ", width)
		}
		fmt.Fprintf(b, "|%s\n", line)
	}
	const slow = "vendor/github.com/日本語/a-very-long-folder/tests/slowest_of_all_test.go"
	events := longRun(command, 15000, 300)
	l.handle(events[0])
	draw(0)
	l.handle(CaseStarted{Name: slow, Pass: 1, At: epoch})
	draw(4200 * time.Millisecond)
	for i, ev := range events[1 : len(events)-1] {
		l.handle(ev)
		if i%9000 == 8999 {
			draw(10 * time.Millisecond)
		}
	}
	draw(2 * time.Minute) // nothing ends any more but what runs longest
	l.handle(CaseRan{Name: slow, Pass: 1, At: l.last.Add(3 * time.Minute), Differs: true})
	l.handle(PassStarted{Pass: 2, Runs: 102, At: l.last})
	draw(0)
	for i := range 25 {
		l.handle(CaseRan{Name: fmt.Sprint(i), Pass: 2 + i%2, At: l.last.Add(300 * time.Millisecond), CPU: 550 * time.Millisecond})
	}
	draw(0)
}

func TestCounterLines(t *testing.T) {
	var b bytes.Buffer
	for _, command := range []string{"check", "record"} {
		c := &counterLines{err: Stream{Writer: &b}}
		for _, ev := range longRun(command, 40000, 900) {
			if err := c.Handle(ev); err != nil {
				t.Fatal(err)
			}
		}
		for _, ev := range []Event{
			PassStarted{Pass: 2, Runs: 1, At: epoch.Add(time.Minute)},
			CaseRan{Pass: 2, At: epoch.Add(66 * time.Second)},
			PassStarted{Pass: 3, Runs: 4000, At: epoch.Add(67 * time.Second)},
			Note{Text: "all is well"},
		} {
			if err := c.Handle(ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkGolden(t, "counter.txt", b.Bytes())
}

func TestShorten(t *testing.T) {
	const name = "src/compiler/tests/日本語/case_0001.go"
	for columns := 10; columns < 50; columns++ {
		got := shorten(name, columns)
		if textColumns(got) > columns || textColumns(got) < min(columns, textColumns(name))-2 {
			t.Errorf("shorten to %d columns gives %d: %s", columns, textColumns(got), got)
		}
		if !strings.HasPrefix(got, name[:3]) || !strings.HasSuffix(got, ".go") {
			t.Errorf("shorten to %d columns: %s", columns, got)
		}
	}
}

// TestETAUnderChangingLoad: the estimate follows the machine's load, and does not jump with it.
func TestETAUnderChangingLoad(t *testing.T) {
	const cases = 3000
	l := &tally{}
	at := epoch
	l.handle(Started{At: at, Command: regress.CheckCommand, Cases: cases})
	var before time.Duration
	for n := range cases - 100 {
		l.handle(CaseStarted{At: at, Name: "x", Pass: 1})
		pace := 10 * time.Millisecond
		if at.Sub(epoch)/(15*time.Second)%2 == 1 {
			pace *= 10
		}
		at = at.Add(pace)
		l.handle(CaseRan{At: at, Name: "x", Pass: 1})
		perSecond, _ := l.rate(at)
		left, ok := l.remaining(at, perSecond)
		if at.Sub(epoch) < 3*time.Second || !ok {
			continue
		}
		if before > 0 && (left > before*5/4 || left < before*3/4) {
			t.Errorf("after %d cases, %v: ETA %v, before %v", n, at.Sub(epoch), left, before)
		}
		before = left
	}
}

// TestETAOfLongCasesFirst: what is long runs first, and the end is not promised
// too late for that.
func TestETAOfLongCasesFirst(t *testing.T) {
	const long, short = 100, 900 // cases, of 1 s and of 100 ms
	var l tally
	at := epoch
	l.handle(Started{Command: "check", Cases: long + short, Jobs: 1, Expected: long*time.Second + short*100*time.Millisecond, At: at})
	ran := func(d time.Duration) {
		at = at.Add(2 * d) // this machine is half as fast
		l.handle(CaseRan{Name: "x", Pass: 1, Wall: 2 * d, Expected: d, At: at})
	}
	for range long / 2 {
		ran(time.Second)
	}
	if line := l.line(at, 119); !strings.Contains(line, "ETA 4m40s") {
		t.Errorf("after half of the long ones: %s", line)
	}
	for range long / 2 {
		ran(time.Second)
	}
	for range short / 2 {
		ran(100 * time.Millisecond)
	}
	if line := l.line(at, 119); !strings.Contains(line, "ETA 1m30s") {
		t.Errorf("after half of the short ones: %s", line)
	}
}
