package probe

import (
	"errors"
	"math"
	"runtime"
)

// SpawnOptions says what is called, directly or each time in a goroutine of its own.
type SpawnOptions struct {
	Roots int // square roots of one call: the work
	Calls int
	Go    bool // each call in a goroutine, which reports its result over a channel
}

// Spawn measures calls, garbage collection included, after a warm-up. With Go all
// goroutines are started before the first result is taken, so nearly all are alive at once.
func Spawn(o SpawnOptions) (Cost, error) {
	if o.Roots < 1 || o.Calls < 1 {
		return Cost{}, errors.New("roots and calls must be 1 or more")
	}
	var sum float64
	run := func(n int) {
		for i := range n {
			sum += roots(o.Roots, i)
		}
		runtime.GC()
	}
	if o.Go {
		run = func(n int) {
			results := make(chan float64)
			for i := range n {
				go func() { results <- roots(o.Roots, i) }()
			}
			for range n {
				sum += <-results
			}
			runtime.GC()
		}
	}
	run(min(o.Calls, warmUpMax))
	cost := measure(o.Calls, run)
	if math.IsNaN(sum) {
		return cost, errors.New("the sum of square roots is no number")
	}
	return cost, nil
}

// roots computes square roots that depend on one another, so that none can be left out.
//
//go:noinline
func roots(n, from int) float64 {
	x := float64(from&0xff) + 2
	for range n {
		x = math.Sqrt(x) + 1
	}
	return x
}
