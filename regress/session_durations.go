package regress

import (
	"time"

	"muster/regress/internal/golden"
)

// durations has how long the selected cases took before, by index: nothing where
// no case is known, else 0 for those that are not.
type durations []time.Duration

// wallsIn returns how long the selected cases took in a golden.
func (s *session) wallsIn(g *golden.Store) durations {
	took := make(durations, len(s.cases))
	for i, e := range s.cases {
		took[i] = g.Wall(e.Name)
	}
	return took
}

// complete gives cases that are not known the mean of those that are, and returns
// nothing when none is: a sum of some would tell nothing.
func (d durations) complete() durations {
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
	full := make(durations, len(d))
	for i, t := range d {
		if full[i] = t; t == 0 {
			full[i] = sum / time.Duration(known)
		}
	}
	return full
}

// sum is how long the tasks should take together.
func (d durations) sum(tasks []task) (sum time.Duration) {
	for _, t := range tasks {
		sum += d.of(t.index)
	}
	return sum
}

// of returns that of one case, 0 when nothing is known.
func (d durations) of(index int) time.Duration {
	if d == nil || index < 0 {
		return 0
	}
	return d[index]
}
