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
)

// Kind is the problem of a measurement. Reports print it.
type Kind string

const (
	TooShort         Kind = "too-short"         // the runs are too short to time
	TooNoisy         Kind = "too-noisy"         // the interval is too wide
	OneCore          Kind = "one-core"          // several cores should have worked, and one did
	ElidingSuspected Kind = "eliding-suspected" // the compiler may have removed the work
)

// A Warning explains why a figure may be misleading.
type Warning struct {
	Kind Kind
	Text string // the observation, then a semicolon and the remedy
}

// A Measurement holds the runs of one benchmark under one setting.
type Measurement struct {
	Ops   int       // operations in each run
	Wall  []float64 // elapsed time of each run, in seconds
	CPU   []float64 // CPU time of each run, all threads together; empty if not measured
	Cores int       // cores that should work at once; below 2 disables OneCore
}

// Warnings returns at most one warning of each kind, in the order of the kinds. A measurement
// without runs has no figure and so no warning.
func (m Measurement) Warnings() (found []Warning) {
	if len(m.Wall) == 0 {
		return nil
	}
	warn := func(kind Kind, format string, args ...any) {
		found = append(found, Warning{kind, fmt.Sprintf(format, args...)})
	}
	s := Summarize(m.Wall)
	if s.Median < RunMin.Seconds() {
		remedy := "measure more operations at once"
		if s.Median > 0 && m.Ops > 0 {
			remedy = fmt.Sprintf("measure at least %.0f operations at once", math.Ceil(float64(m.Ops)*RunMin.Seconds()/s.Median))
		}
		warn(TooShort, "a run took %v, less than %v, and is mostly clock and scheduler; %s", duration(s.Median), RunMin, remedy)
	}
	if spread := s.Spread(); spread > SpreadMax {
		warn(TooNoisy, "the median of %d runs lies between %v and %v (±%.1f %%, more than ±%.0f %%); take more or longer runs, or use an idle machine",
			s.N, duration(s.Low), duration(s.High), 100*spread, 100*SpreadMax)
	}
	cpu, wall := sum(m.CPU), sum(m.Wall)
	// Zero CPU time means that the system does not report it, not that it idled.
	if m.Cores >= 2 && len(m.CPU) == len(m.Wall) && cpu > 0 && wall > 0 && cpu/wall < CoresBusyMin {
		warn(OneCore, "%d cores should have worked and %.2f were busy, so the figure says nothing about parallel work; check which cores the process may use (taskset, a container's CPU limit, other programs) and whether tasks wait for each other",
			m.Cores, cpu/wall)
	}
	// Cores that work in parallel share the time, and each still makes its calls.
	if each := s.Median * 1e9 * float64(max(m.Cores, 1)) / float64(m.Ops); m.Ops > 0 && each < OperationMin {
		warn(ElidingSuspected, "an operation took %.2g ns, less than a single call can take (%v ns), so the compiler may have removed the work; make the program use each result in a way that the compiler cannot foresee",
			each, OperationMin)
	}
	return found
}

func sum(figures []float64) (total float64) {
	for _, f := range figures {
		total += f
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
