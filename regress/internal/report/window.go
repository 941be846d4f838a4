package report

import (
	"time"
)

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
		copy(w.recent, w.recent[1:])
		w.recent = w.recent[:n-1]
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
