package probe

import (
	"errors"
	"runtime"
	"time"
)

// ChannelOptions configures [Channel].
type ChannelOptions struct {
	Items   int // items that pass the channel
	Portion int // items that are timed together
	Cycles  int // loop iterations on both sides for each item
	Buffer  int // capacity of the channel; 0 = unbuffered
}

// ChannelCost is the result of [Channel].
type ChannelCost struct {
	Cost
	Portions []time.Duration // elapsed times in order; the first includes the start of the filler
	Threads  int             // most threads of this process, counted after each portion; 0 = unknown
}

// Channel starts a goroutine that fills a channel, and drains it.
func Channel(o ChannelOptions) (ChannelCost, error) {
	if o.Items < 1 || o.Portion < 1 || o.Items%o.Portion != 0 {
		return ChannelCost{}, errors.New("items must be a multiple of the portion, and both must be 1 or more")
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

// burn spins in a loop. The compiler keeps the loop because it does not inline the call. With
// 0 cycles the call remains, so each item has the same number of calls.
//
//go:noinline
func burn(cycles int) int {
	sum := 0
	for i := range cycles {
		sum ^= i
	}
	return sum
}

// StartedThreads returns the number of threads of this process after the given number of
// goroutines have each kept a processor busy for a while. It shows how many threads GOMAXPROCS
// brings.
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
