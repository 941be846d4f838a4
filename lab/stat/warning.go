package stat

import (
	"fmt"
	"math"
	"time"
)

// Beyond these a measurement is warned about.
const (
	RunMin       = time.Millisecond // a shorter run is mostly clock and scheduler
	SpreadMax    = 0.05             // of the median, to either side
	CoresBusyMin = 1.1              // CPU time ÷ elapsed time where several cores were meant to work
	OperationMin = 0.3              // nanoseconds: one call at the highest clock rates there are
	GrowthMin    = 0.5              // half way between "in proportion to n" and "not at all"
)

// Kind is what is wrong with a measurement.
type Kind int

const (
	_                Kind = iota
	TooShort              // the runs are too short to be timed
	TooNoisy              // the interval is too wide
	OneCore               // several cores were meant to work and one did
	ElidingSuspected      // the compiler may have left the work out
)

// String is the kind as reports name it.
func (k Kind) String() string {
	switch k {
	case TooShort:
		return "too-short"
	case TooNoisy:
		return "too-noisy"
	case OneCore:
		return "one-core"
	case ElidingSuspected:
		return "eliding-suspected"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// A Warning says why a figure may not mean what it seems to.
type Warning struct {
	Kind Kind
	Text string // what was seen, and after a semicolon what would mend it
}

// String is the warning as one line.
func (w Warning) String() string { return w.Kind.String() + ": " + w.Text }

// A Measurement is one thing measured several times under one setting.
type Measurement struct {
	Ops   int             // operations in each run
	Wall  []time.Duration // how long each run took
	CPU   []time.Duration // CPU time of each run, all threads together; none where it was not taken
	Cores int             // how many were meant to work at once; 0 and 1 promise nothing
	// Growth has runs of the same thing with other numbers of operations; with fewer than
	// two different ones it says nothing.
	Growth []Run
}

// Warnings returns what is wrong with the measurement, at most one of each kind and in
// their order; none when nothing is. A measurement without runs has no figure and so no
// warning.
func (m Measurement) Warnings() []Warning {
	if len(m.Wall) == 0 {
		return nil
	}
	var found []Warning
	for _, w := range []Warning{m.tooShort(), m.tooNoisy(), m.oneCore(), m.eliding()} {
		if w.Text != "" {
			found = append(found, w)
		}
	}
	return found
}

func (m Measurement) tooShort() (w Warning) {
	median := Seconds(m.Wall).Median
	if median >= RunMin.Seconds() {
		return w
	}
	mend := "measure more operations at once"
	if median > 0 && m.Ops > 0 {
		mend = fmt.Sprintf("measure at least %.0f operations at once", math.Ceil(float64(m.Ops)*RunMin.Seconds()/median))
	}
	return Warning{TooShort, fmt.Sprintf("a run took %v, less than %v, which is mostly clock and scheduler; %s", duration(median), RunMin, mend)}
}

func (m Measurement) tooNoisy() (w Warning) {
	s := Seconds(m.Wall)
	spread := s.Spread()
	if !(spread > SpreadMax) {
		return w
	}
	return Warning{TooNoisy, fmt.Sprintf("the median of %d runs lies somewhere from %v to %v (±%.1f %%, more than ±%.0f %%); repeat it more often, with longer runs, or on a machine that does nothing else",
		s.N, duration(s.Low), duration(s.High), 100*spread, 100*SpreadMax)}
}

func (m Measurement) oneCore() (w Warning) {
	cpu, wall := sum(m.CPU), sum(m.Wall)
	// No CPU time at all is a system that does not tell it, not one that idles.
	if m.Cores < 2 || len(m.CPU) != len(m.Wall) || cpu <= 0 || wall <= 0 {
		return w
	}
	busy := cpu.Seconds() / wall.Seconds()
	if busy >= CoresBusyMin {
		return w
	}
	return Warning{OneCore, fmt.Sprintf("%d cores were meant to work and %.2f were busy, so this says nothing about working in parallel; look at what the process may use (taskset, a container's CPU limit, other programs) and whether the tasks wait for each other",
		m.Cores, busy)}
}

func (m Measurement) eliding() (w Warning) {
	const mend = "let the program use each result, in a way that the compiler cannot foresee"
	// Cores that work side by side share the time, and each still makes its calls.
	each := Seconds(m.Wall).Median * 1e9 * float64(max(m.Cores, 1)) / float64(m.Ops)
	if m.Ops > 0 && each < OperationMin {
		return Warning{ElidingSuspected, fmt.Sprintf("an operation took %.2g ns, less than a single call can (%v ns), so the compiler may have left the work out; %s", each, OperationMin, mend)}
	}
	if growth, err := Growth(m.Growth); err == nil && growth < GrowthMin {
		return Warning{ElidingSuspected, fmt.Sprintf("ten times the operations took %.2g times as long, so the compiler may have left the work out, or set-up is most of the time; %s, or measure more operations", math.Pow(10, growth), mend)}
	}
	return w
}

func sum(durations []time.Duration) (total time.Duration) {
	for _, d := range durations {
		total += d
	}
	return total
}

// duration is seconds as people read them: three digits of a duration are enough.
func duration(seconds float64) time.Duration {
	d := time.Duration(math.Round(seconds * 1e9))
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
