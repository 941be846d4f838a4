package probe

import (
	"errors"
	"math"
	"runtime"
)

// SpawnOptions configures [Spawn].
type SpawnOptions struct {
	Roots int // square roots per call: the work
	Calls int
	Go    bool // make each call in a goroutine, which sends its result over a channel
}

// Spawn measures calls after a warm-up, garbage collection included. With Go it starts all
// goroutines before it takes the first result, so nearly all are alive at once.
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
		return cost, errors.New("the sum of square roots is not a number")
	}
	return cost, nil
}

// roots computes square roots. Each depends on the previous one, so the compiler cannot remove
// any.
//
//go:noinline
func roots(n, from int) float64 {
	x := float64(from&0xff) + 2
	for range n {
		x = math.Sqrt(x) + 1
	}
	return x
}
