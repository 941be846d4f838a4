package cost

import (
	"fmt"
	"time"

	"muster/internal/readable"
)

// Kind is the reason why a figure may mislead.
type Kind int

// The kinds.
const (
	_       Kind = iota
	TooFew       // too few pairs for a meaningful interval
	Uneven       // a few cases take most of the time
	Quick        // the cases take hardly longer than the start of a process
	Noisy        // the interval is wide
	AtFloor      // the peaks are too small to measure
)

// String returns the kind's name in reports.
func (k Kind) String() string {
	switch k {
	case TooFew:
		return "too-few"
	case Uneven:
		return "uneven"
	case Quick:
		return "quick"
	case Noisy:
		return "noisy"
	case AtFloor:
		return "at-floor"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// A Warning is a reason and, after a semicolon, the mend.
type Warning struct {
	Kind Kind   `line:"kind"`
	Text string `line:"text"`
}

// Thresholds of the warnings.
const (
	quickMax     = time.Millisecond // of CPU for the typical case
	precisionMax = 0.05
)

// warnings returns the warnings about an estimate, at most one of each kind, in their order.
func warnings(e Estimate, times shares) (list []Warning) {
	if !e.CPU.IsKnown() {
		return nil
	}
	add := func(wrong bool, k Kind, format string, args ...any) {
		if wrong {
			list = append(list, Warning{k, fmt.Sprintf(format, args...)})
		}
	}
	add(!e.CPU.Bounded(), TooFew, "no interval from %s of %s; run more cases", readable.Count(e.Pairs, "pair"), readable.Count(len(e.Cases), "case"))
	add(e.CPU.Bounded() && e.CPU.Vague(), TooFew, "the interval from %s of %s reaches %.0f %% to either side, and means nothing: run more cases, or keep the machine free of other work",
		readable.Count(e.Pairs, "pair"), readable.Count(len(e.Cases), "case"), 100*e.CPU.Precision())
	count := times.effective()
	these := ""
	if e.CPU.Bounded() {
		these = ", and the interval covers only these"
	}
	add(len(times) >= casesMin && count < casesMin, Uneven,
		"few cases take most of the time: the %d weigh as much as %.0f of equal size%s; run more cases", len(times), count, these)
	typical := times.typical()
	add(typical < quickMax, Quick, "the typical case takes %v of CPU, which is mostly starting a process: changes of the tool's own work are larger than they look", typical.Round(10*time.Microsecond))
	add(!e.CPU.Vague() && e.CPU.Precision() > precisionMax, Noisy,
		"the interval reaches %.0f %% to either side: run more cases, or keep the machine free of other work", 100*e.CPU.Precision())
	add(!e.Memory.IsKnown(), AtFloor, "no case needs measurably more memory than the lane itself")
	return list
}

// typical returns the median cost of a case, in nanoseconds of CPU.
func (all shares) typical() time.Duration {
	sizes := make([]float64, len(all))
	for i, s := range all {
		sizes[i] = s.size
	}
	return duration(median(sizes))
}

// MarshalText implements encoding.TextMarshaler.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Kind) UnmarshalText(text []byte) error {
	for known := TooFew; known <= AtFloor; known++ {
		if known.String() == string(text) {
			*k = known
			return nil
		}
	}
	return fmt.Errorf("warning %q is not known", text)
}
