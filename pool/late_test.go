package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/pool"
)

// Producers get room in the order in which they came, without those whose contexts ended.
func TestFirstComeFirstServed(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { firstComeFirstServed(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func firstComeFirstServed(t *testing.T, random *rand.Rand) {
	const producers = 60
	gate := make(chan struct{})
	var got, want []int
	p := pool.New(1, func(n int) {
		<-gate
		got = append(got, n)
	}, pool.Queue(1+random.IntN(8)))
	ctx, cancel := context.WithCancel(t.Context())
	for n := range producers {
		ends := random.IntN(2) == 0
		go func() {
			switch {
			case !ends:
				p.Submit(n)
			case p.SubmitContext(ctx, n) != nil:
				return
			}
		}()
		synctest.Wait()
		s := p.Stats()
		if accepted := s.Queued + s.Running; n < accepted || !ends {
			want = append(want, n)
		}
	}
	cancel()
	synctest.Wait()
	close(gate)
	synctest.Wait()
	p.Close()
	if !slices.Equal(got, want) {
		t.Errorf("handled %v, want %v", got, want)
	}
}

// A worker lets part of a large crowd in. Newcomers still wait behind the rest.
func TestNewcomersWaitBehindACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd = 2000
		gate := make(chan struct{})
		p := pool.New(1, func(int) { <-gate })
		p.SubmitN(make([]int, 1+1024))
		var in atomic.Int64
		for range crowd {
			go func() {
				p.Submit(1)
				in.Add(1)
			}()
		}
		synctest.Wait()
		for in.Load() < crowd {
			gate <- struct{}{}
			synctest.Wait()
			if in.Load() < crowd && p.TrySubmit(2) {
				t.Fatalf("TrySubmit took a place while %d producers waited", crowd-in.Load())
			}
		}
		close(gate)
		p.Close()
	})
}

// A context that ends at the moment when there is room decides one way or the other.
func TestContextEndsAsRoomAppears(t *testing.T) {
	const rounds, producers = 200, 6
	var handled, accepted atomic.Int64
	var gate chan struct{}
	p := pool.New(1, func(int) {
		<-gate
		handled.Add(1)
	}, pool.Queue(1))
	for range rounds {
		gate = make(chan struct{})
		p.SubmitN([]int{1, 1})
		accepted.Add(2)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range producers {
			all.Go(func() {
				if p.SubmitContext(ctx, 1) == nil {
					accepted.Add(1)
				}
			})
		}
		runtime.Gosched()
		go cancel()
		close(gate)
		all.Wait()
		p.Wait()
	}
	p.Close()
	if handled.Load() != accepted.Load() {
		t.Errorf("%d accepted, %d handled", accepted.Load(), handled.Load())
	}
}

// Whatever mix of producers a pool is closed under, each value is handled or refused.
func TestCloseRefusesThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const producers = 3000
		gate := make(chan struct{})
		var handled, refused, ended atomic.Int64
		p := pool.New(2, func(int) {
			<-gate
			handled.Add(1)
		}, pool.Queue(4))
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for n := range producers {
			all.Go(func() {
				switch n % 3 {
				case 0:
					if panicOf(func() { p.Submit(n) }) != "" {
						refused.Add(1)
					}
				case 1:
					if err := p.SubmitContext(t.Context(), n); errors.Is(err, pool.ErrClosed) {
						refused.Add(1)
					}
				case 2:
					if err := p.SubmitContext(ctx, n); errors.Is(err, context.Canceled) {
						ended.Add(1)
					}
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		go p.Close()
		all.Wait()
		close(gate)
		p.Close()
		if ended.Load() < producers/3-6 || handled.Load()+refused.Load()+ended.Load() != producers {
			t.Errorf("%d handled, %d refused, %d ended, of %d", handled.Load(), refused.Load(), ended.Load(), producers)
		}
	})
}

// As many tasks are under way as the workers and the queue hold. Each waits until its producer
// has taken the result of another, and has submitted the next one.
func TestTaskWaitsForItsProducer(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		const workers, queueMax = 2, 4
		results := make(chan int)
		p := pool.New(workers, func(n int) { results <- n }, pool.Queue(queueMax))
		for n := range workers + queueMax {
			p.Submit(n)
		}
		for n := range 1000 {
			<-results
			p.Submit(n)
		}
		for range workers + queueMax {
			<-results
		}
		p.Close()
	})
}

// All of the workers can run a task, and all of the places can hold one, whatever ran before.
func TestWorkersAndPlacesFill(t *testing.T) {
	for workers := range 12 {
		for queueMax := range 12 {
			synctest.Test(t, func(*testing.T) {
				var gate chan struct{}
				p := pool.New(workers+1, func(isLong bool) {
					if isLong {
						<-gate
					}
				}, pool.Queue(queueMax+1))
				gate = make(chan struct{})
				p.SubmitN(make([]bool, 500))
				p.Wait()
				for range workers + queueMax + 2 {
					p.Submit(true)
				}
				close(gate)
				p.Close()
			})
		}
	}
}

// Behind long tasks, a producer that came first waits for one place, not for half of the queue.
func TestLongTasksLetProducersInOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, long = 8, 2500 * time.Microsecond
		p := pool.New(workers, func(int) { time.Sleep(long) })
		p.SubmitN(make([]int, workers+1024))
		var longest time.Duration
		for range 2000 {
			began := time.Now()
			p.Submit(0)
			longest = max(longest, time.Since(began))
		}
		if longest > long {
			t.Errorf("a Submit waited %v while %d places became free every %v", longest, workers, long)
		}
		p.Close()
	})
}

// A worker that becomes free starts the task that has waited longest, when tasks are long.
func TestLongTasksStartInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, tasks = 4, 2000
		var mu sync.Mutex
		var order []int
		p := pool.New(workers, func(n int) {
			mu.Lock()
			order = append(order, n)
			mu.Unlock()
			time.Sleep(time.Millisecond)
		}, pool.Queue(tasks))
		p.SubmitN(upTo(tasks))
		p.Close()
		for i, n := range order {
			if n < i-workers || n > i+workers {
				t.Fatalf("task %d started as number %d", n, i)
			}
		}
	})
}
