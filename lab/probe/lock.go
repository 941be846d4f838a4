package probe

import (
	"errors"
	"runtime"
	"sync"
)

// Lock measures pairs of Lock and Unlock of one mutex, shared by so many goroutines: with
// one of them nobody contends. Pairs that are left when each has had as many as the
// others are left out.
func Lock(goroutines, pairs int) (Cost, error) {
	if goroutines < 1 || pairs < goroutines {
		return Cost{}, errors.New("there must be one goroutine or more, and as many pairs or more")
	}
	var mu sync.Mutex
	each, sum := pairs/goroutines, 0
	cost := measure(each*goroutines, func(int) {
		var all sync.WaitGroup
		for range goroutines {
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
	if sum != cost.N {
		return cost, errors.New("the mutex let several in at once")
	}
	return cost, nil
}

// WakeUp measures how long it takes until one who waits goes on: two pass each other a
// token, so each pass wakes the other and waits. They are goroutines, or with threads two
// goroutines that each keep a thread of the system to themselves, which then must be
// woken by the system.
func WakeUp(passes int, threads bool) (Cost, error) {
	if passes < 2 {
		return Cost{}, errors.New("there must be two passes or more")
	}
	there, back := make(chan int), make(chan int)
	var both sync.WaitGroup
	rounds := passes / 2
	side := func(do func()) {
		both.Go(func() {
			if threads {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			for range rounds {
				do()
			}
		})
	}
	cost := measure(2*rounds, func(int) {
		side(func() { trivial(<-there); back <- 1 })
		side(func() { there <- 1; trivial(<-back) })
		both.Wait()
	})
	return cost, nil
}
