package main

import "time"

// costs are the measured costs of a case of one command.
type costs struct {
	cpu    time.Duration   // of muster; with lanes also of the tool
	engine time.Duration   // CPU of the engine, if it takes the same cores; else 0
	parts  []time.Duration // of limitedParts
}

// alone returns the time of a case in which nothing else goes on.
func (c costs) alone() (sum time.Duration) {
	for i, p := range limitedParts {
		if p.atOnce == 0 {
			sum += c.parts[i]
		}
	}
	return sum
}

// perCase returns the time for one case more on a number of cores: what is done alone, and of the
// rest the slower of all cores together and of the slowest part. It names that part, or returns ""
// if the cores limit.
func (c costs) perCase(cores int) (d time.Duration, limit string) {
	d = (c.cpu - c.alone() + c.engine) / time.Duration(cores)
	for i, p := range limitedParts {
		if p.atOnce == 0 {
			continue
		}
		if part := time.Duration(float64(c.parts[i]) / p.atOnce); part > d {
			d, limit = part, p.name
		}
	}
	return d + c.alone(), limit
}

// rate returns cases a second.
func (c costs) rate(cores int) (float64, string) {
	d, limit := c.perCase(cores)
	return 1 / d.Seconds(), limit
}

// highest returns the rate that no number of cores exceeds, the part that limits it, and the
// number of cores from which that part does. The part is "" if no part was seen to cost anything
// beside what is done alone.
func (c costs) highest() (rate float64, limit string, cores int) {
	rate, limit = c.rate(1 << 30)
	for cores = 1; ; cores++ {
		if _, now := c.perCase(cores); now == limit {
			return rate, limit, cores
		}
	}
}
