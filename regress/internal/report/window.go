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

// A course holds samples of a pass from its beginning on. The longer the pass takes, the further
// apart they are.
type course struct {
	samples []sample
	spacing time.Duration
	last    time.Time // when add was called last
}

// pauseMax is the longest time between two runs of a pass. If more passes, the clock was set.
const pauseMax = 10 * time.Minute

func (c *course) add(s sample) {
	n, pause := len(c.samples), s.at.Sub(c.last)
	c.last = s.at
	switch {
	case n == 0:
	case pause < -time.Second, pause > pauseMax: // what was before tells nothing
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

// base returns the sample from which the rest of the pass is estimated: half of the pass
// back, and at least 30 seconds. So an estimate follows a change of the machine's load, and
// does not jump with it.
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
