package probe

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"muster/lab/native/contest"
	"muster/lab/results"
)

// Channel starts a goroutine that fills a channel, and drains it.
type Channel struct {
	Items   int  // items that pass the channel
	Portion int  // items that are timed together; a divisor of Items
	Cycles  int  // loop iterations on both sides for each item
	Buffer  int  // capacity of the channel; 0 = unbuffered
	Each    bool // report every portion, not only their median
}

// PortionItems is the number of items to which the time of a portion is scaled, as in the article.
const PortionItems = 100_000

// PortionUnit returns the unit of the nth portion, from 1 on.
func PortionUnit(n int) string { return fmt.Sprintf("s/portion-%d", n) }

func (o Channel) measure(in Input) (s results.Sample, err error) {
	if o.Items < 1 || o.Portion < 1 || o.Items%o.Portion != 0 {
		return s, errors.New("items must be a multiple of the portion")
	}
	if in.gated {
		fmt.Fprintln(in.stdout, Ready)
		if _, err := io.Copy(io.Discard, in.stdin); err != nil {
			return s, err
		}
	}
	items, most := make(chan int, o.Buffer), 0
	portions := make([]float64, 0, o.Items/o.Portion)
	s = measure(o.Items, func(n int) {
		go fill(items, n, o.Cycles)
		for range n / o.Portion {
			began := time.Now()
			drain(items, o.Portion, o.Cycles)
			portions = append(portions, time.Since(began).Seconds()*PortionItems/float64(o.Portion))
			most = max(most, threads())
		}
	}).sample()
	sorted := slices.Sorted(slices.Values(portions))
	s.Values = append(s.Values, value(results.Portion, sorted[len(sorted)/2]), value(results.Threads, most))
	if o.Each {
		for i, portion := range portions {
			s.Values = append(s.Values, value(PortionUnit(i+1), portion))
		}
	}
	return s, nil
}

func fill(items chan<- int, n, cycles int) {
	for i := range n {
		_ = burn(cycles)
		items <- i
	}
}

func drain(items <-chan int, n, cycles int) {
	for range n {
		contest.Trivial(<-items)
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

// Started counts the threads of this process while goroutines keep processors busy. It shows how
// many threads GOMAXPROCS brings.
type Started struct {
	Goroutines int
	Each       time.Duration // time for which a goroutine is busy
}

func (o Started) measure(Input) (results.Sample, error) {
	seen := make(chan int)
	for range o.Goroutines {
		go func() {
			most := 0
			for until := time.Now().Add(o.Each); time.Now().Before(until); runtime.Gosched() {
				_ = burn(10_000)
				most = max(most, threads())
			}
			seen <- most
		}()
	}
	all := 0
	for range o.Goroutines {
		all = max(all, <-seen)
	}
	return results.Sample{N: o.Goroutines, Values: []results.Value{value(results.Threads, all)}}, nil
}

// Procs reports the GOMAXPROCS of its process.
type Procs struct{}

func (Procs) measure(Input) (results.Sample, error) {
	return results.Sample{N: 1, Values: []results.Value{value(results.Procs, runtime.GOMAXPROCS(0))}}, nil
}
