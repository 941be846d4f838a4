package stat

import (
	"fmt"
	"math"
	"time"
)

// Thresholds of the warnings.
const (
	RunMin       = time.Millisecond // shorter runs are mostly clock and scheduler
	SpreadMax    = 0.05             // of the median, to either side
	CoresBusyMin = 1.1              // CPU time ÷ elapsed time when several cores should work
	OperationMin = 0.3              // nanoseconds: one call at the highest clock rates
	GrowthMin    = 0.5              // half way between proportional to n and independent of n
)

// Kind is the problem of a measurement.
type Kind int

const (
	_                Kind = iota
	TooShort              // the runs are too short to time
	TooNoisy              // the interval is too wide
	OneCore               // several cores should have worked, and one did
	ElidingSuspected      // the compiler may have removed the work
)

// String returns the name that reports print.
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

// A Warning explains why a figure may be misleading.
type Warning struct {
	Kind Kind
	Text string // the observation, then a semicolon and the remedy
}

// A Measurement holds the runs of one benchmark under one setting.
type Measurement struct {
	Ops   int             // operations in each run
	Wall  []time.Duration // elapsed time of each run
	CPU   []time.Duration // CPU time of each run, all threads together; empty if not measured
	Cores int             // cores that should work at once; below 2 disables OneCore
	// Growth holds runs of the same benchmark with other numbers of operations. Fewer than two
	// different numbers disable the check of growth.
	Growth []Run
}

// Warnings returns at most one warning of each kind, in the order of the kinds. A measurement
// without runs has no figure and so no warning.
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
	remedy := "measure more operations at once"
	if median > 0 && m.Ops > 0 {
		remedy = fmt.Sprintf("measure at least %.0f operations at once", math.Ceil(float64(m.Ops)*RunMin.Seconds()/median))
	}
	return Warning{TooShort, fmt.Sprintf("a run took %v, less than %v, and is mostly clock and scheduler; %s", duration(median), RunMin, remedy)}
}

func (m Measurement) tooNoisy() (w Warning) {
	s := Seconds(m.Wall)
	spread := s.Spread()
	if !(spread > SpreadMax) {
		return w
	}
	return Warning{TooNoisy, fmt.Sprintf("the median of %d runs lies between %v and %v (±%.1f %%, more than ±%.0f %%); take more or longer runs, or use an idle machine",
		s.N, duration(s.Low), duration(s.High), 100*spread, 100*SpreadMax)}
}

func (m Measurement) oneCore() (w Warning) {
	cpu, wall := sum(m.CPU), sum(m.Wall)
	// Zero CPU time means that the system does not report it, not that it idled.
	if m.Cores < 2 || len(m.CPU) != len(m.Wall) || cpu <= 0 || wall <= 0 {
		return w
	}
	busy := cpu.Seconds() / wall.Seconds()
	if busy >= CoresBusyMin {
		return w
	}
	return Warning{OneCore, fmt.Sprintf("%d cores should have worked and %.2f were busy, so the figure says nothing about parallel work; check which cores the process may use (taskset, a container's CPU limit, other programs) and whether tasks wait for each other",
		m.Cores, busy)}
}

func (m Measurement) eliding() (w Warning) {
	const remedy = "make the program use each result in a way that the compiler cannot foresee"
	// Cores that work in parallel share the time, and each still makes its calls.
	each := Seconds(m.Wall).Median * 1e9 * float64(max(m.Cores, 1)) / float64(m.Ops)
	if m.Ops > 0 && each < OperationMin {
		return Warning{ElidingSuspected, fmt.Sprintf("an operation took %.2g ns, less than a single call can take (%v ns), so the compiler may have removed the work; %s", each, OperationMin, remedy)}
	}
	if growth, err := Growth(m.Growth); err == nil && growth < GrowthMin {
		return Warning{ElidingSuspected, fmt.Sprintf("ten times the operations took %.2g times as long, so the compiler may have removed the work, or set-up dominates the time; %s, or measure more operations", math.Pow(10, growth), remedy)}
	}
	return w
}

func sum(durations []time.Duration) (total time.Duration) {
	for _, d := range durations {
		total += d
	}
	return total
}

// duration rounds seconds to a duration of three digits.
func duration(seconds float64) time.Duration {
	d := time.Duration(math.Round(seconds * 1e9))
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
