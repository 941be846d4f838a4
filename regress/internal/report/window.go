package report

import (
	"time"
)

// A sample is how far a pass was at a time.
type sample struct {
	at   time.Time
	done int
	cpu  time.Duration
	// expected is how long what is done should have taken.
	expected time.Duration
}

const (
	samplesMax    = 40
	sampleSpacing = 250 * time.Millisecond // so a full window spans ten seconds
	// With fewer runs than this in it a window says more about chance than
	// about speed, and the pass from its beginning is taken.
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
	case s.at.Sub(w.recent[n-1].at) < -time.Second: // the clock was set back: what was before tells nothing
		w.first, w.recent = s, w.recent[:0]
	case s.at.Sub(w.recent[n-1].at) < sampleSpacing:
		return
	case n == samplesMax:
		copy(w.recent, w.recent[1:])
		w.recent = w.recent[:n-1]
	}
	w.recent = append(w.recent, s)
}

// base returns the sample to measure from, done being how far the pass is now.
func (w *window) base(done int) sample {
	if len(w.recent) > 0 && done-w.recent[0].done >= windowRunsMin {
		return w.recent[0]
	}
	return w.first
}
