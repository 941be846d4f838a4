package probe

import (
	"errors"
	"runtime"
	"sync"
)

// Lock measures pairs of Lock and Unlock of one mutex that the goroutines share. A single
// goroutine meets no contention. If pairs is not a multiple of goroutines, Lock omits the
// remainder.
func Lock(goroutines, pairs int) (Cost, error) {
	if goroutines < 1 || pairs < goroutines {
		return Cost{}, errors.New("goroutines must be 1 or more, and pairs at least as many")
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
		return cost, errors.New("the mutex let several goroutines in at once")
	}
	return cost, nil
}

// WakeUp measures the time until a waiting goroutine continues. Two goroutines pass a token,
// so each pass wakes the other one. With threads each goroutine is locked to a thread of its
// own, which the system must wake.
func WakeUp(passes int, threads bool) (Cost, error) {
	if passes < 2 {
		return Cost{}, errors.New("passes must be 2 or more")
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
