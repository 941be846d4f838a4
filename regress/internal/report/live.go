package report

import (
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/palette"
)

// redrawSpacing is the time between two drawings of the line.
const redrawSpacing = 100 * time.Millisecond

// The control sequences of the line.
const (
	toStart    = "\r"
	eraseRight = "\x1b[K"
)

// liveProgress draws the progress line at the bottom of a terminal. As an io.Writer it takes
// whole lines of text, and puts them above the progress line.
type liveProgress struct {
	console Console
	stop    chan struct{} // ends the goroutine that draws; nil while none does
	stopped chan struct{} // closed once it has ended

	mu      sync.Mutex // guards the fields below, and is never held while the terminal takes output
	tally   tally
	arrived time.Time // when the latest event with a time came, by this machine's clock
	err     error     // the first error of a drawing

	terminal sync.Mutex // its holder writes to the terminal
	drawn    bool       // the line is on the terminal
}

func (l *liveProgress) Handle(ev Event) error {
	if n, ok := ev.(Note); ok {
		return l.above(l.console.Err, noteText(n, palette.Painter(l.console.Err.Colour)))
	}
	l.follow(ev)
	switch ev.(type) {
	case Started, Engine:
		l.keepDrawing(l.tally.shows())
	case Finished:
		l.keepDrawing(false)
	}
	return l.failure()
}

func (l *liveProgress) follow(ev Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.tally.last
	l.tally.handle(ev)
	if !l.tally.last.Equal(before) {
		l.arrived = time.Now()
	}
}

// Close removes the line if the run broke off before Finished.
func (l *liveProgress) Close() error {
	l.keepDrawing(false)
	return l.failure()
}

// Write implements io.Writer for results.
func (l *liveProgress) Write(text []byte) (int, error) {
	return len(text), l.above(l.console.Out, string(text))
}

// above writes text above the line.
func (l *liveProgress) above(to io.Writer, text string) error {
	l.terminal.Lock()
	defer l.terminal.Unlock()
	l.erase()
	if _, err := io.WriteString(to, text); err != nil {
		return err
	}
	if l.stop != nil {
		l.draw()
	}
	return l.failure()
}

// keepDrawing starts the goroutine that draws the line, or ends it and removes the line.
func (l *liveProgress) keepDrawing(on bool) {
	switch {
	case on == (l.stop != nil):
	case on:
		l.stop, l.stopped = make(chan struct{}), make(chan struct{})
		go l.drawUntil(l.stop, l.stopped)
	default:
		close(l.stop)
		<-l.stopped
		l.stop = nil
		l.terminal.Lock()
		defer l.terminal.Unlock()
		l.erase()
	}
}

func (l *liveProgress) drawUntil(stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	tick := time.NewTicker(redrawSpacing)
	defer tick.Stop()
	for {
		l.terminal.Lock()
		l.draw()
		l.terminal.Unlock()
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}

// draw writes the line. Between events it adds the time since the latest one.
func (l *liveProgress) draw() {
	l.mu.Lock()
	now := l.tally.last.Add(time.Since(l.arrived))
	// not the last column, because many terminals wrap as soon as it is written
	line := l.tally.line(now, l.console.Err.columns()-1)
	l.mu.Unlock()
	l.put(toStart + line + eraseRight)
	l.drawn = true
}

func (l *liveProgress) erase() {
	if l.drawn {
		l.put(toStart + eraseRight)
		l.drawn = false
	}
}

func (l *liveProgress) put(text string) {
	_, err := io.WriteString(l.console.Err, text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

func (l *liveProgress) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// label names the present work: "check", "retry", "record, second run".
func (t *tally) label() string {
	switch {
	case t.pass <= 1:
		return t.command
	case t.command == regress.RecordCommand:
		return t.command + ", " + ordinal(t.pass) + " run"
	case t.costs:
		return "cost"
	}
	return "retry"
}

func (t *tally) position() string { return readable.Number(t.done) + "/" + readable.Number(t.total) }

func (t *tally) eta(now time.Time, perSecond float64) string {
	if left, ok := t.remaining(now, perSecond); ok {
		// rounded up to seconds, because an estimate is not more precise
		return "ETA " + readable.WholeSeconds((left + time.Second - 1).Truncate(time.Second))
	}
	return "ETA –"
}

func (t *tally) differing() string {
	if t.command == regress.RecordCommand {
		return readable.Number(t.differs) + " flaky"
	}
	return readable.Number(t.differs) + " differ"
}

// line returns the progress line, cut after a number of columns.
func (t *tally) line(now time.Time, columns int) string {
	fields := append([]string{t.label()}, t.fields(now)...)
	if longest, since, ok := t.longest(now); ok && t.engine.latest.Doing == "" {
		fields = append(fields, "longest "+readable.Duration(now.Sub(since))+" "+name.Print(longest))
	}
	return columnRules().Truncate(strings.Join(fields, "  "), columns, "…")
}

// fields describes the progress.
func (t *tally) fields(now time.Time) []string {
	if t.engine.latest.Doing != "" {
		return t.engine.preparation(now)
	}
	perSecond, cores := t.rate(now)
	fields := []string{t.position(), readable.Rate(perSecond)}
	if t.engine.known {
		fields = append(fields, t.engine.flight(t.total-t.done))
	} else if cores > 0 {
		fields = append(fields, strconv.FormatFloat(cores, 'f', 2, 64)+" cores busy")
	}
	fields = append(fields, t.eta(now, perSecond))
	if share := t.engine.share(); share != "" {
		fields = append(fields, share)
	}
	if t.differs > 0 {
		fields = append(fields, t.differing())
	}
	return fields
}

// shorten cuts a name in the middle to at most columns columns: its folder and its end say
// most.
func shorten(name string, columns int) string {
	width := textColumns(name)
	if width <= columns {
		return name
	}
	tail := (columns - 1) * 2 / 3
	return columnRules().Truncate(name, columns-1-tail, "") + columnRules().TruncateLeft(name, width-tail, "…")
}

// textColumns returns the width of text on a terminal.
func textColumns(text string) int { return columnRules().StringWidth(text) }

// columnRules counts only characters that are wide in every locale as wide.
func columnRules() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// A sample is the progress of a pass at a time.
type sample struct {
	at   time.Time
	done int
	cpu  time.Duration
	// expected is the time that the ended runs should have taken.
	expected time.Duration
}

const (
	samplesMax    = 40
	sampleSpacing = 250 * time.Millisecond
	// Fewer runs say more about chance than about speed. Then the whole pass counts.
	windowRunsMin = 8
	// recent is the time that the present speed covers, at least.
	recent = 10 * time.Second
)

// A course holds samples of a pass from its beginning. The longer the pass takes, the further
// apart they are.
type course struct {
	samples []sample
	spacing time.Duration
}

func (c *course) add(s sample) {
	n := len(c.samples)
	switch {
	case n == 0:
	case s.at.Sub(c.samples[n-1].at) < c.spacing:
		return
	case n == samplesMax:
		for i := range n / 2 {
			c.samples[i] = c.samples[2*i]
		}
		c.samples = c.samples[:n/2]
		c.spacing *= 2
	}
	c.samples = append(c.samples, s)
}

// base returns the latest sample that is a span back. If there is none with enough runs since, it returns the first.
func (c *course) base(now time.Time, done int, span time.Duration) sample {
	if len(c.samples) == 0 { // no pass began
		return sample{}
	}
	for i := len(c.samples) - 1; i > 0; i-- {
		if s := c.samples[i]; now.Sub(s.at) >= span && done-s.done >= windowRunsMin {
			return s
		}
	}
	return c.samples[0]
}
