package probe

import (
	"errors"
	"runtime"
	"sync"

	"muster/lab/native/contest"
	"muster/lab/results"
)

// Lock measures pairs of Lock and Unlock of one mutex that the goroutines share. A single
// goroutine meets no contention. If Pairs is not a multiple of Goroutines, the remainder is left
// out.
type Lock struct{ Goroutines, Pairs int }

func (o Lock) measure(Input) (results.Sample, error) {
	var mu sync.Mutex
	each, sum := o.Pairs/o.Goroutines, 0
	c := measure(each*o.Goroutines, func(int) {
		var all sync.WaitGroup
		for range o.Goroutines {
			all.Go(func() {
				for range each {
					mu.Lock()
					sum++
					mu.Unlock()
				}
			})
		}
		all.Wait()
	})
	if sum != c.n {
		return results.Sample{}, errors.New("the mutex let several goroutines in at once")
	}
	return c.sample(), nil
}

// WakeUp measures the time until a waiting goroutine continues. Two goroutines pass a token,
// so each pass wakes the other one. With threads each goroutine is locked to a thread of its
// own, which the system must wake.
type WakeUp struct {
	Passes  int // an even number
	Threads bool
}

func (o WakeUp) measure(Input) (results.Sample, error) {
	there, back := make(chan int), make(chan int)
	var both sync.WaitGroup
	side := func(do func()) {
		both.Go(func() {
			if o.Threads {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			for range o.Passes / 2 {
				do()
			}
		})
	}
	return measure(o.Passes, func(int) {
		side(func() { contest.Trivial(<-there); back <- 1 })
		side(func() { there <- 1; contest.Trivial(<-back) })
		both.Wait()
	}).sample(), nil
}
