package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
)

// counterSpacing shows that a run is alive, and does not fill a log.
const counterSpacing = 5 * time.Second

// engineSpacing is the time from the first event of an engine to the first line: nobody should
// look at nothing for longer.
const engineSpacing = 2 * time.Second

// counterLines shows progress where a line cannot be redrawn.
type counterLines struct {
	err   Stream
	tally tally
	next  time.Time
}

func (c *counterLines) Handle(ev Event) error {
	c.tally.handle(ev)
	switch ev := ev.(type) {
	case Started:
		c.next = ev.At.Add(counterSpacing)
	case Engine:
		if c.next.IsZero() {
			c.next = ev.At.Add(engineSpacing)
		}
		return c.line(ev.At)
	case PassStarted:
		c.next = ev.At.Add(counterSpacing)
		if ev.Costs {
			return nil // most runs end before anybody wants to know
		}
		_, err := fmt.Fprintf(c.err, "%s: %s\n", c.tally.command, passPhrase(c.tally.command, ev))
		return err
	case CaseRan:
		return c.line(ev.At)
	case Note:
		return writeNote(c.err, ev)
	}
	return nil
}

// line writes the progress, if it is time to.
func (c *counterLines) line(now time.Time) error {
	if now.Before(c.next) || !c.tally.shows() {
		return nil
	}
	c.next = now.Add(counterSpacing)
	_, err := io.WriteString(c.err, c.tally.counter(now))
	return err
}

func (c *counterLines) Close() error { return nil }

// passPhrase describes a later pass: "second run of 3,000 cases", "130 further runs for cases
// without a verdict".
func passPhrase(command string, p PassStarted) string {
	if command == regress.RecordCommand {
		return ordinal(p.Pass) + " run of " + readable.Count(p.Runs, "case")
	}
	return readable.Count(p.Runs, "further run") + " for cases without a verdict"
}

func ordinal(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}

// counter returns a line such as "check: 1,200/15,000, 812/s, 3.90 cores busy, ETA 17s, 3 differ".
func (t *tally) counter(now time.Time) string {
	return t.label() + ": " + strings.Join(t.fields(now), ", ") + "\n"
}
