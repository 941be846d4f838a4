package probe

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"muster/lab/native/contest"
	"muster/lab/results"
	"muster/pool"
)

// Spawn measures calls after a warm-up, garbage collection included.
type Spawn struct {
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

func (o Spawn) measure(Input) (s results.Sample, err error) {
	run, ok := map[SpawnMode]func(roots, calls int) float64{
		Bare: callDirectly, Sending: callAndSend, Each: callInGoroutines, Grouped: callInGroups,
	}[o.Mode]
	if !ok || o.Calls < 1 {
		return s, fmt.Errorf("%d calls in mode %q", o.Calls, o.Mode)
	}
	var sum float64
	once := func(n int) {
		sum += run(o.Roots, n)
		runtime.GC()
	}
	once(min(o.Calls, contest.WarmUpMax))
	s = measure(o.Calls, once).sample()
	if math.IsNaN(sum) {
		return s, errors.New("the sum of square roots is not a number")
	}
	return s, nil
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

// Waiting starts goroutines that wait, and measures the memory that they take once all of them
// wait. A figure is negative if the rest of the process released more.
type Waiting struct{ Goroutines int }

// waitingWarmUp is the number of goroutines that start and end first. The measured goroutines
// reuse their memory, so they are few.
const waitingWarmUp = 16

func (o Waiting) measure(Input) (results.Sample, error) {
	open := make(chan struct{})
	close(open)
	awaitAll(startWaiting(min(o.Goroutines, waitingWarmUp), open), min(o.Goroutines, waitingWarmUp))
	gate := make(chan struct{})
	defer close(gate)
	debug.FreeOSMemory() // goroutines would reuse free resident memory, which would hide their cost
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	residentBefore := resident()
	var there *atomic.Int64
	start := measure(o.Goroutines, func(n int) { there = startWaiting(n, gate) })
	awaitAll(there, o.Goroutines)
	runtime.ReadMemStats(&after)
	each := func(before, after uint64) float64 { return float64(int64(after-before)) / float64(o.Goroutines) }
	s := start.sample(value(results.StackPerOp, each(before.StackInuse, after.StackInuse)), value(results.SysPerOp, each(before.Sys, after.Sys)))
	if residentAfter := resident(); residentAfter > 0 {
		s.Values = append(s.Values, value(results.RSSPerOp, each(residentBefore, residentAfter)))
	}
	return s, nil
}

// startWaiting starts goroutines that wait at a gate. It returns a counter of those that have
// reached the gate.
func startWaiting(n int, gate <-chan struct{}) *atomic.Int64 {
	var there atomic.Int64
	for range n {
		go func() {
			there.Add(1)
			<-gate
		}()
	}
	return &there
}

// awaitAll returns when n goroutines have reached the gate and only this goroutine is running
// or runnable. Then all of them wait, and no garbage collection is in progress.
func awaitAll(there *atomic.Int64, n int) {
	active := []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}}
	for {
		if there.Load() == int64(n) {
			metrics.Read(active)
			if active[0].Value.Uint64()+active[1].Value.Uint64() <= 1 {
				return
			}
		}
		runtime.Gosched()
	}
}

// Workers measures tasks that compute and then wait, on a pool.
type Workers struct {
	Workers int
	Tasks   int
	Roots   int           // square roots of each task: its computation
	Wait    time.Duration // wait of each task after that, as for a disk or a network
}

func (o Workers) measure(Input) (results.Sample, error) {
	p := pool.New(o.Workers, func(from int) {
		_ = roots(o.Roots, from)
		if o.Wait > 0 {
			time.Sleep(o.Wait)
		}
	})
	defer p.Close()
	run := func(n int) {
		for i := range n {
			p.Submit(i)
		}
		p.Wait()
	}
	run(min(o.Tasks, o.Workers))
	return measure(o.Tasks, run).sample(), nil
}
