package pass

import (
	"time"
)

// Durations are the earlier durations of the selected cases, by index. It is nil if none is known,
// and 0 for an unknown case.
type Durations []time.Duration

// Complete gives unknown cases the mean of the known ones. It returns nil if none is known.
func (d Durations) Complete() Durations {
	var sum time.Duration
	known := 0
	for _, t := range d {
		if t > 0 {
			sum, known = sum+t, known+1
		}
	}
	if known == 0 {
		return nil
	}
	full := make(Durations, len(d))
	for i, t := range d {
		if full[i] = t; t == 0 {
			full[i] = sum / time.Duration(known)
		}
	}
	return full
}

// Sum returns the expected duration of all tasks together.
func (d Durations) Sum(tasks []Task) (sum time.Duration) {
	for _, t := range tasks {
		sum += d.Of(t.Index)
	}
	return sum
}

// Of returns the expected duration of one case, or 0 if it is unknown.
func (d Durations) Of(index int) time.Duration {
	if d == nil || index < 0 {
		return 0
	}
	return d[index]
}
