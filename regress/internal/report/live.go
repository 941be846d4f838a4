package report

import (
	"errors"
	"io"
	"muster/regress/internal/palette"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
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
