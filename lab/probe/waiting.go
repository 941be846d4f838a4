package probe

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// Footprint is the memory that goroutines take which wait, in bytes for all. It is below
// zero where the rest of the process gave more back.
type Footprint struct {
	Start    Cost  // of starting them; many run only later
	Stack    int64 // in use for stacks
	Sys      int64 // had from the system
	Resident int64 // of the process
	Told     bool  // Resident is known
}

// waitingWarmUp is how many goroutines start and end first. What they leave behind is
// used again, so they are few.
const waitingWarmUp = 16

// Waiting starts so many goroutines that wait, and tells what memory that took once all
// of them do.
func Waiting(goroutines int) Footprint {
	open := make(chan struct{})
	close(open)
	awaitAll(startWaiting(min(goroutines, waitingWarmUp), open), min(goroutines, waitingWarmUp))
	gate := make(chan struct{})
	defer close(gate)
	debug.FreeOSMemory() // what is free and resident would be used unseen
	before := memory()
	var there *atomic.Int64
	start := measure(goroutines, func(n int) { there = startWaiting(n, gate) })
	awaitAll(there, goroutines)
	after := memory()
	return Footprint{start, after.Stack - before.Stack, after.Sys - before.Sys, after.Resident - before.Resident, after.Told}
}

// startWaiting starts goroutines that wait at a gate, and returns how many have come there.
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

// awaitAll returns once n are there and no goroutine of this process runs or could run but
// this one: then those that are there wait, and no garbage collection goes on.
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
	return Footprint{Stack: int64(m.StackInuse), Sys: int64(m.Sys), Resident: r, Told: r != 0}
}
