package report

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/palette"
)

// redrawSpacing is the time between two drawings of the line.
const redrawSpacing = 100 * time.Millisecond

// liveProgress draws the progress line at the bottom of a terminal. As an io.Writer it takes
// whole lines of text, and puts them above the progress line.
type liveProgress struct {
	console Console
	lines   *mpb.Progress // nil while no line is drawn
	bar     *mpb.Bar
	out     *errorKeeper

	mu      sync.Mutex // guards the fields below: a goroutine of mpb draws the line
	tally   tally
	arrived time.Time // when the latest event with a time came, by this machine's clock
}

func (l *liveProgress) Handle(ev Event) error {
	if n, ok := ev.(Note); ok {
		_, err := l.above(l.console.Err, noteText(n, palette.Painter(l.console.Err.Colour)))
		return err
	}
	l.follow(ev)
	switch ev.(type) {
	case Started:
		return l.start()
	case Engine:
		switch {
		case !l.tally.shows():
			return l.stop()
		case l.lines == nil:
			return l.start()
		}
	case Finished:
		return l.stop()
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
func (l *liveProgress) Close() error { return l.stop() }

// Write implements io.Writer for results.
func (l *liveProgress) Write(text []byte) (int, error) {
	return l.above(l.console.Out, string(text))
}

func (l *liveProgress) start() error {
	if err := l.stop(); err != nil {
		return err
	}
	l.out = &errorKeeper{w: l.console.Err}
	// For mpb the writer is no *os.File, so mpb does not ask whether it is a terminal nor how
	// wide: both are known here.
	l.lines = mpb.New(mpb.WithOutput(l.out), mpb.WithAutoRefresh(), mpb.WithRefreshRate(redrawSpacing))
	var err error
	l.bar, err = l.lines.Add(0, mpb.BarFillerFunc(l.draw), mpb.BarFillerTrim())
	return err
}

// draw writes the line. Between events it adds the time since the latest one: the events of a
// replayed run have their times in the past.
func (l *liveProgress) draw(w io.Writer, _ decor.Statistics) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.tally.shows() {
		return nil // the line is about to be removed
	}
	now := l.tally.last.Add(time.Since(l.arrived))
	// not the last column, because many terminals wrap as soon as it is written
	_, err := io.WriteString(w, l.tally.line(now, l.console.Err.columns()-1, palette.Painter(l.console.Err.Colour)))
	return err
}

// above writes text above the line, or directly if no line is drawn.
func (l *liveProgress) above(direct io.Writer, text string) (int, error) {
	if l.lines == nil {
		return io.WriteString(direct, text)
	}
	n, err := io.WriteString(l.lines, text)
	if errors.Is(err, mpb.ErrDone) {
		err = errors.Join(l.failure(), err)
	}
	return n, err
}

// stop removes the line and waits until nothing is drawn any more.
func (l *liveProgress) stop() error {
	if l.lines == nil {
		return nil
	}
	l.bar.Abort(true)
	l.lines.Wait()
	l.lines = nil
	return l.failure()
}

func (l *liveProgress) failure() error {
	if l.out == nil {
		return nil
	}
	return l.out.failure()
}

// errorKeeper keeps the first error of a writer, because mpb drops it.
type errorKeeper struct {
	w   io.Writer
	mu  sync.Mutex
	err error
}

func (w *errorKeeper) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return n, err
}

func (w *errorKeeper) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
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

const fieldGap = "  "

// line returns the progress line of at most columns columns. Fields that do not fit are dropped
// from the right. The name of the longest run is shortened first.
func (t *tally) line(now time.Time, columns int, p palette.Painter) string {
	perSecond, cores := t.rate(now)
	busy := "– cores busy"
	if cores > 0 {
		busy = strconv.FormatFloat(cores, 'f', 2, 64) + " cores busy"
	}
	l := lineBuilder{room: columns}
	l.add(t.label(), p, palette.Bold)
	if doing := t.engine.doing(now); doing != "" {
		l.add(shorten(doing, max(l.room-len(fieldGap), nameColumnsMin)), p, "")
		return l.b.String()
	}
	if t.engine.known {
		busy = t.engine.flight(t.total - t.done)
	}
	l.add(t.position(), p, "")
	l.add(readable.Rate(perSecond), p, "")
	l.add(busy, p, "")
	l.add(t.eta(now, perSecond), p, "")
	if share := t.engine.share(); share != "" {
		l.add(share, p, "")
	}
	if t.differs > 0 {
		l.add(t.differing(), p, palette.Yellow)
	}
	if longest, since, ok := t.longest(now); ok {
		l.addNamed("longest ", name.Print(longest), " "+readable.Duration(now.Sub(since)))
	}
	return l.b.String()
}

// A lineBuilder puts fields side by side while they fit.
type lineBuilder struct {
	b    strings.Builder
	room int
	full bool
}

func (l *lineBuilder) add(text string, p palette.Painter, c palette.Style) {
	gap := fieldGap
	if l.b.Len() == 0 {
		gap = ""
	}
	width := textColumns(gap + text)
	if l.full = l.full || width > l.room; l.full {
		return
	}
	l.room -= width
	l.b.WriteString(gap + p.Paint(c, text))
}

// nameColumnsMin is the shortest name that still means something.
const nameColumnsMin = 10

func (l *lineBuilder) addNamed(before, name, after string) {
	room := l.room - textColumns(fieldGap+before+after)
	if textColumns(name) > room && room < nameColumnsMin {
		l.full = true
		return
	}
	l.add(before+shorten(name, room)+after, false, "")
}

// shorten cuts a name in the middle to at most columns columns: its folder and its end say
// most.
func shorten(name string, columns int) string {
	if textColumns(name) <= columns {
		return name
	}
	const gap = "…"
	tail := len(name)
	room := (columns - 1) * 2 / 3
	for {
		r, size := utf8.DecodeLastRuneInString(name[:tail])
		if room -= textColumns(string(r)); room < 0 {
			break
		}
		tail -= size
	}
	head := 0
	room = columns - 1 - textColumns(name[tail:])
	for {
		r, size := utf8.DecodeRuneInString(name[head:])
		if room -= textColumns(string(r)); room < 0 {
			break
		}
		head += size
	}
	return name[:head] + gap + name[tail:]
}

// textColumns returns the width of text on a terminal. It counts only characters that are wide
// in every locale as wide.
func textColumns(text string) int {
	return (&runewidth.Condition{StrictEmojiNeutral: true}).StringWidth(text)
}

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
	sampleSpacing = 250 * time.Millisecond // so a full window spans ten seconds
	// A window with fewer runs says more about chance than about speed. Then the whole pass
	// counts.
	windowRunsMin = 8
)

// A window holds the latest samples of a pass, and its first.
type window struct {
	first  sample
	recent []sample
}

func (w *window) add(s sample) {
	n := len(w.recent)
	switch {
	case n == 0:
		w.first = s
	case s.at.Sub(w.recent[n-1].at) < -time.Second: // the clock was set back, so earlier samples say nothing
		w.first, w.recent = s, w.recent[:0]
	case s.at.Sub(w.recent[n-1].at) < sampleSpacing:
		return
	case n == samplesMax:
		w.recent = slices.Delete(w.recent, 0, 1)
	}
	w.recent = append(w.recent, s)
}

// base returns the sample to measure from. done is the present progress of the pass.
func (w *window) base(done int) sample {
	if len(w.recent) > 0 && done-w.recent[0].done >= windowRunsMin {
		return w.recent[0]
	}
	return w.first
}

// A course holds samples of a pass from its beginning. The longer the pass takes, the further
// apart they are.
type course struct {
	samples []sample
	spacing time.Duration
	last    time.Time // time of the last add
}

// pauseMax is the longest time between two runs of a pass. A longer time means that the clock
// was set.
const pauseMax = 10 * time.Minute

func (c *course) add(s sample) {
	n, pause := len(c.samples), s.at.Sub(c.last)
	c.last = s.at
	switch {
	case n == 0:
	case pause < -time.Second, pause > pauseMax: // earlier samples say nothing
		c.samples, c.spacing = c.samples[:0], sampleSpacing
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

// base returns the sample from which the rest of the pass is estimated: half of the pass back,
// and at least 30 seconds. So an estimate follows the load of the machine smoothly.
func (c *course) base(now time.Time, done int) sample {
	first := c.samples[0]
	span := max(now.Sub(first.at)/2, 30*time.Second)
	for i := len(c.samples) - 1; i > 0; i-- {
		if s := c.samples[i]; now.Sub(s.at) >= span && done-s.done >= windowRunsMin {
			return s
		}
	}
	return first
}
