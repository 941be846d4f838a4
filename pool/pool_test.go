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

	"muster/pool"
)

// Most tests run in a bubble of testing/synctest. There a lost wake-up is a deadlock that
// fails at once, a leaked goroutine fails the test, and synctest.Wait returns when all
// goroutines are blocked.

func TestTasksThatWaitForOneAnother(t *testing.T) {
	for _, workers := range []int{1, 2, 8, 61} {
		synctest.Test(t, func(*testing.T) {
			var all sync.WaitGroup
			p := pool.New(workers, func(int) {
				all.Done()
				all.Wait()
			}, pool.Queue(3))
			defer p.Close()
			for range 50 {
				all.Add(workers)
				for n := range workers {
					p.Submit(n)
				}
				p.Wait()
			}
		})
	}
}

func TestBatchOfTasksThatWaitForOneAnother(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		const workers = 8
		var all sync.WaitGroup
		p := pool.New(workers, func(int) {
			all.Done()
			all.Wait()
		})
		defer p.Close()
		for range 50 {
			all.Add(workers)
			p.SubmitN(make([]int, workers))
			p.Wait()
		}
	})
}

func TestNoMoreRunThanWorkers(t *testing.T) {
	const workers = 3
	var running atomic.Int64
	p := pool.New(workers, func(int) {
		if now := running.Add(1); now > workers {
			t.Errorf("%d tasks run at once on %d workers", now, workers)
		}
		runtime.Gosched()
		running.Add(-1)
	}, pool.Queue(4))
	p.SubmitN(make([]int, 10_000))
	p.Close()
}

func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := pool.New(2, func(int) { <-gate }, pool.Queue(4))
		expect := func(want pool.Stats) {
			t.Helper()
			synctest.Wait()
			if got := p.Stats(); got != want {
				t.Errorf("Stats() = %+v, want %+v", got, want)
			}
		}
		expect(pool.Stats{Workers: 2, QueueMax: 4})
		p.SubmitN([]int{1, 2, 3, 4, 5})
		expect(pool.Stats{Workers: 2, QueueMax: 4, Queued: 3, Running: 2})
		gate <- struct{}{}
		expect(pool.Stats{Workers: 2, QueueMax: 4, Queued: 2, Running: 2, Done: 1})
		close(gate)
		p.Close()
		expect(pool.Stats{Workers: 2, QueueMax: 4, Done: 5})
	})
}

func TestQueueDefault(t *testing.T) {
	p := pool.New(1, func(int) {})
	defer p.Close()
	if got := p.Stats().QueueMax; got != 1024 {
		t.Errorf("QueueMax = %d, want 1024 as documented", got)
	}
}

func TestIdlePoolRunsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		p := pool.New(16, func(int) { calls++ })
		synctest.Wait() // returns only if every worker is parked
		p.Submit(1)
		synctest.Wait()
		if calls != 1 {
			t.Errorf("%d calls for one task", calls)
		}
		p.Close()
	})
}

func TestQueueIsTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := pool.New(1, func(int) { <-gate }, pool.Queue(2))
		accepted := 0
		go func() {
			for n := range 5 {
				p.Submit(n)
				accepted++
			}
		}()
		synctest.Wait()
		if accepted != 3 {
			t.Errorf("%d tasks accepted with 1 worker and 2 places, want 3", accepted)
		}
		if p.TrySubmit(6) {
			t.Error("TrySubmit found room in a full queue")
		}
		close(gate)
		synctest.Wait()
		if accepted != 5 {
			t.Errorf("%d tasks accepted after the handler went on, want 5", accepted)
		}
		p.Close()
	})
}

func TestSubmitNLongerThanTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		p := pool.New(1, func(n int) { got = append(got, n) }, pool.Queue(3))
		values := []int{1, 2, 3, 4, 5, 6, 7, 8}
		p.SubmitN(values)
		clear(values) // the pool has its own copy
		p.Close()
		if want := []int{1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(got, want) {
			t.Errorf("handled %v, want %v", got, want)
		}
	})
}

func TestHandlerSubmitsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var leaves atomic.Int64
		var p *pool.Pool[int]
		var split func(depth int)
		split = func(depth int) {
			if depth == 0 {
				leaves.Add(1)
				return
			}
			for range 2 {
				if !p.TrySubmit(depth - 1) {
					split(depth - 1)
				}
			}
		}
		p = pool.New(4, split, pool.Queue(2))
		p.Submit(10)
		for s := p.Stats(); s.Queued+s.Running > 0; s = p.Stats() {
			p.Wait() // the tasks submitted so far may have submitted more
		}
		p.Close()
		if leaves.Load() != 1024 {
			t.Errorf("%d leaves, want 1024", leaves.Load())
		}
	})
}

func TestWaitIgnoresLaterTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New(2, func(gate chan struct{}) { <-gate })
		early, late := make(chan struct{}), make(chan struct{})
		p.Submit(early)
		var waited atomic.Bool
		go func() {
			p.Wait()
			waited.Store(true)
		}()
		synctest.Wait()
		p.Submit(late)

		// As many tasks are done as Wait waits for, but other ones.
		late <- struct{}{}
		synctest.Wait()
		if waited.Load() {
			t.Error("Wait returned before the task that was submitted before it was done")
		}

		p.Submit(late)
		early <- struct{}{}
		synctest.Wait()
		if !waited.Load() {
			t.Error("Wait waits for a task that was submitted after it")
		}
		close(late)
		p.Close()
	})
}

// Each Wait waits for its own tasks, in whatever order they end.
func TestManyWait(t *testing.T) {
	const tasks = 12
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			p := pool.New(tasks, func(gate chan struct{}) { <-gate })
			var gates []chan struct{}
			returned := make([]atomic.Bool, tasks)
			for n := range tasks {
				gates = append(gates, make(chan struct{}))
				p.Submit(gates[n])
				go func() {
					p.Wait()
					returned[n].Store(true)
				}()
				synctest.Wait()
			}
			order := rand.New(rand.NewPCG(seed, 0)).Perm(tasks)
			for i, ended := range order {
				close(gates[ended])
				synctest.Wait()
				expectReturned(t, returned, order[:i+1])
			}
			p.Wait() // nothing is left
			p.Close()
			p.Wait()
		})
	}
}

// expectReturned checks that Wait n returned if and only if tasks 0 to n ended.
func expectReturned(t *testing.T, returned []atomic.Bool, ended []int) {
	t.Helper()
	want := true
	for n := range returned {
		want = want && slices.Contains(ended, n)
		if got := returned[n].Load(); got != want {
			t.Errorf("tasks %v ended: Wait %d returned: %v, want %v", ended, n, got, want)
		}
	}
}

func TestSubmitContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := pool.New(1, func(int) { <-gate }, pool.Queue(1))
		ctx, cancel := context.WithCancel(t.Context())
		if err := p.SubmitContext(ctx, 1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.Submit(2)

		blocked := make(chan error, 1)
		go func() { blocked <- p.SubmitContext(ctx, 3) }()
		var other atomic.Bool
		go func() {
			p.Submit(4)
			other.Store(true)
		}()
		synctest.Wait()
		cancel()
		if err := <-blocked; !errors.Is(err, context.Canceled) {
			t.Errorf("SubmitContext = %v after its context ended, want context.Canceled", err)
		}
		// The SubmitContext that gave up must not have consumed the wake-up of the Submit.
		gate <- struct{}{}
		synctest.Wait()
		if !other.Load() {
			t.Error("Submit stays blocked beside a SubmitContext that gave up")
		}
		close(gate)
		synctest.Wait() // there is room
		if err := p.SubmitContext(ctx, 5); !errors.Is(err, context.Canceled) {
			t.Errorf("SubmitContext with an ended context = %v, want context.Canceled", err)
		}
		p.Close()
		if done := p.Stats().Done; done != 3 {
			t.Errorf("%d tasks done, want 3", done)
		}
	})
}

func TestPointersAreReleased(t *testing.T) {
	p := pool.New(1, func(*[1 << 20]byte) {}, pool.Queue(4))
	defer p.Close()
	freed := make(chan struct{})
	submitCollectable(p, freed)
	p.Wait()
	awaitCollection(t, freed)
}

// A handled value is released although the worker's next task is long.
func TestPointersAreReleasedInsideABatch(t *testing.T) {
	gate, freed := make(chan struct{}), make(chan struct{})
	p := pool.New(1, func(v *[1 << 20]byte) {
		if v == nil {
			<-gate
		}
	}, pool.Queue(8))
	p.Submit(nil)
	eventually(t, "the worker is busy", func() bool { return p.Stats().Running == 1 })
	submitCollectable(p, freed)
	p.Submit(nil) // in one batch with the previous task
	gate <- struct{}{}
	awaitCollection(t, freed)
	close(gate)
	p.Close()
}

// The workers' batches need no more places than the queue has.
func TestMemoryOfManyWorkers(t *testing.T) {
	const workers, queueMax = 256, 64
	type value [1 << 12]byte
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := pool.New(workers, func(value) {}, pool.Queue(queueMax))
	runtime.ReadMemStats(&after)
	p.Close()
	// Twice the expected size leaves room for goroutines and the rest of the program.
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(2*(2*queueMax+workers)*len(value{})); got > most {
		t.Errorf("a pool of %d workers and %d places took %d bytes, want at most %d", workers, queueMax, got, most)
	}
}
