// Package contest makes pools do the tasks of a contest, in each of its modes. Package probe measures
// muster's pool and bare channels with it, and the contestants in _go measure those of other modules.
// Package native copies it among their sources, so it must only import the standard library.
package contest

import (
	"math"
	"sync"
	"time"
)

// Contestants in other languages use the same numbers. The README of package native explains the modes.
const (
	WarmUpMax     = 20_000
	makespanTasks = 10_000
	longFirst     = 5_000
	longCount     = 64
	barrierRounds = 300
	producerCount = 8
	batchLength   = 64
)

// A Pool does tasks. A task is a number.
type Pool struct {
	Submit  func(n int)
	SubmitN func(tasks []int) // nil = it takes tasks one by one
	Wait    func()            // until all submitted tasks are done
	Close   func()
}

// Task returns the handler of the tasks of a mode, and their number. wanted is the number for modes that
// have no fixed one.
func Task(mode string, workers, wanted int) (handle func(n int), tasks int) {
	switch mode {
	case "makespan":
		return mixed, makespanTasks
	case "barrier":
		all := NewBarrier(workers)
		return func(int) { all.Wait() }, barrierRounds
	}
	return Trivial, wanted
}

// Run does n tasks, or n rounds of tasks that wait for one another, and waits for them.
func (p Pool) Run(mode string, n, workers int) {
	switch mode {
	case "batch":
		batch := make([]int, batchLength)
		for from := 0; from < n; from += batchLength {
			part := batch[:min(batchLength, n-from)]
			for i := range part {
				part[i] = from + i
			}
			p.SubmitN(part)
		}
	case "producers":
		var producers sync.WaitGroup
		for who := range producerCount {
			producers.Go(func() { p.submitAll((n + who) / producerCount) }) // the numbers add up to n
		}
		producers.Wait()
	case "barrier":
		for range n {
			p.submitAll(workers)
			p.Wait()
		}
	default:
		p.submitAll(n)
	}
	p.Wait()
}

func (p Pool) submitAll(n int) {
	for i := range n {
		p.Submit(i)
	}
}

// Trivial costs next to nothing. The compiler cannot remove the call, because it does not know
// that n is never that large.
//
//go:noinline
func Trivial(n int) {
	if n == math.MaxInt {
		panic("unreachable")
	}
}

// mixed is a task of mode makespan: 64 tasks of a millisecond side by side among trivial ones.
func mixed(n int) {
	if n < longFirst || n >= longFirst+longCount {
		Trivial(n)
		return
	}
	for until := time.Now().Add(time.Millisecond); time.Now().Before(until); {
	}
}

// A Barrier makes each caller wait until the given number of callers have arrived.
type Barrier struct {
	mu             sync.Mutex
	all            sync.Cond
	size           int
	arrived, round int
}

// NewBarrier returns a barrier for a number of callers.
func NewBarrier(size int) *Barrier {
	b := &Barrier{size: size}
	b.all.L = &b.mu
	return b
}

// Wait returns when all callers of a round have arrived.
func (b *Barrier) Wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.arrived++; b.arrived == b.size {
		b.arrived = 0
		b.round++
		b.all.Broadcast()
		return
	}
	for round := b.round; b.round == round; {
		b.all.Wait()
	}
}
