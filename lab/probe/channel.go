package probe

import (
	"errors"
	"runtime"
	"time"
)

// ChannelOptions says what goes through a channel.
type ChannelOptions struct {
	Items   int // through the channel
	Portion int // items that are timed together
	Cycles  int // turns of a loop that both sides do for each item
	Buffer  int // places of the channel; 0 = none
}

// ChannelCost is what that took.
type ChannelCost struct {
	Cost
	Portions []time.Duration // in order; the first has the start of the filler in it
	Threads  int             // most threads of this process, seen after each portion; 0 = cannot be told
}

// Channel has one goroutine fill a channel and another drain it.
func Channel(o ChannelOptions) (ChannelCost, error) {
	if o.Items < 1 || o.Portion < 1 || o.Items%o.Portion != 0 {
		return ChannelCost{}, errors.New("items must be a multiple of a portion, and both 1 or more")
	}
	if o.Cycles < 0 || o.Buffer < 0 {
		return ChannelCost{}, errors.New("cycles and buffer must be 0 or more")
	}
	items := make(chan int, o.Buffer)
	cost := ChannelCost{Portions: make([]time.Duration, 0, o.Items/o.Portion)}
	cost.Cost = measure(o.Items, func(n int) {
		go fill(items, n, o.Cycles)
		for range n / o.Portion {
			began := time.Now()
			drain(items, o.Portion, o.Cycles)
			cost.Portions = append(cost.Portions, time.Since(began))
			cost.Threads = max(cost.Threads, threads())
		}
	})
	return cost, nil
}

func fill(items chan<- int, n, cycles int) {
	for i := range n {
		_ = burn(cycles)
		items <- i
	}
}

func drain(items <-chan int, n, cycles int) {
	for range n {
		trivial(<-items)
		_ = burn(cycles)
	}
}

// burn goes round a loop; the compiler does not leave it out because it does not look
// into the call, and there is one for each item with or without ballast.
//
//go:noinline
func burn(cycles int) int {
	sum := 0
	for i := range cycles {
		sum ^= i
	}
	return sum
}

// StartedThreads is how many threads this process has once so many goroutines have each
// kept a processor busy for a while: how many GOMAXPROCS really brings.
func StartedThreads(goroutines int, each time.Duration) int {
	most := make(chan int)
	for range goroutines {
		go func() {
			seen := 0
			for until := time.Now().Add(each); time.Now().Before(until); runtime.Gosched() {
				_ = burn(10_000)
				seen = max(seen, threads())
			}
			most <- seen
		}()
	}
	all := 0
	for range goroutines {
		all = max(all, <-most)
	}
	return all
}
