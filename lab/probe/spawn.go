package probe

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// SpawnOptions configures [Spawn].
type SpawnOptions struct {
	Roots int // square roots per call: the work
	Calls int
	Mode  SpawnMode
}

// SpawnMode is the way in which calls are made.
type SpawnMode string

// Modes of [Spawn].
const (
	Bare    SpawnMode = "direct"  // in a loop
	Sending SpawnMode = "sending" // in a loop; each call sends its result over a channel
	Each    SpawnMode = "each"    // each in a goroutine that sends its result over a channel; nearly all are alive at once
	Grouped SpawnMode = "grouped" // each in a goroutine of WaitGroup.Go, GroupSize at a time
)

// GroupSize is the number of goroutines that a program typically starts before it waits for
// them.
const GroupSize = 100

// Spawn measures calls after a warm-up, garbage collection included.
func Spawn(o SpawnOptions) (Cost, error) {
	if o.Roots < 1 || o.Calls < 1 {
		return Cost{}, errors.New("roots and calls must be 1 or more")
	}
	run, ok := map[SpawnMode]func(roots, calls int) float64{
		Bare: callDirectly, Sending: callAndSend, Each: callInGoroutines, Grouped: callInGroups,
	}[o.Mode]
	if !ok {
		return Cost{}, fmt.Errorf("unknown mode %q", o.Mode)
	}
	var sum float64
	once := func(n int) {
		sum += run(o.Roots, n)
		runtime.GC()
	}
	once(min(o.Calls, warmUpMax))
	cost := measure(o.Calls, once)
	if math.IsNaN(sum) {
		return cost, errors.New("the sum of square roots is not a number")
	}
	return cost, nil
}

func callDirectly(work, calls int) (sum float64) {
	for i := range calls {
		sum += roots(work, i)
	}
	return sum
}

// callAndSend sends from a second goroutine, because nothing receives in a loop that sends. Like
// callInGoroutines it has an unbuffered channel, so only the goroutines differ.
func callAndSend(work, calls int) (sum float64) {
	results := make(chan float64)
	go func() {
		for i := range calls {
			results <- roots(work, i)
		}
	}()
	for range calls {
		sum += <-results
	}
	return sum
}

// callInGoroutines starts all goroutines before it receives the first result.
func callInGoroutines(work, calls int) (sum float64) {
	results := make(chan float64)
	for i := range calls {
		go func() { results <- roots(work, i) }()
	}
	for range calls {
		sum += <-results
	}
	return sum
}

func callInGroups(work, calls int) (sum float64) {
	var results [GroupSize]float64
	for from := 0; from < calls; from += GroupSize {
		var group sync.WaitGroup
		for i := range min(GroupSize, calls-from) {
			group.Go(func() { results[i] = roots(work, from+i) })
		}
		group.Wait()
		sum += results[0]
	}
	return sum
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
