package probe

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// Footprint is the memory of goroutines that wait, in bytes for all together. A value is
// negative if the rest of the process released more.
type Footprint struct {
	Start         Cost  // cost of starting them; many run only later
	Stack         int64 // stack memory in use
	Sys           int64 // obtained from the system
	Resident      int64 // resident memory of the process
	ResidentKnown bool  // whether the system reports resident memory
}

// waitingWarmUp is the number of goroutines that start and end first. The measured goroutines
// reuse their memory, so they are few.
const waitingWarmUp = 16

// Waiting starts goroutines that wait, and returns the memory that they take once all of them
// wait.
func Waiting(goroutines int) Footprint {
	open := make(chan struct{})
	close(open)
	awaitAll(startWaiting(min(goroutines, waitingWarmUp), open), min(goroutines, waitingWarmUp))
	gate := make(chan struct{})
	defer close(gate)
	debug.FreeOSMemory() // goroutines would reuse free resident memory, which would hide their cost
	before := memory()
	var there *atomic.Int64
	start := measure(goroutines, func(n int) { there = startWaiting(n, gate) })
	awaitAll(there, goroutines)
	after := memory()
	return Footprint{start, after.Stack - before.Stack, after.Sys - before.Sys, after.Resident - before.Resident, after.ResidentKnown}
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

func memory() Footprint {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r := int64(resident())
	return Footprint{Stack: int64(m.StackInuse), Sys: int64(m.Sys), Resident: r, ResidentKnown: r != 0}
}
