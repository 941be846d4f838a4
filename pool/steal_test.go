package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"muster/pool"
)

// A worker takes several tasks from the queue at once. A long task does not delay the others.
func TestLongTaskDelaysNoOther(t *testing.T) {
	for _, workers := range []int{2, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			var done atomic.Int64
			p := pool.New(workers, func(n int) {
				if n == 0 {
					<-gate
				}
				done.Add(1)
			})
			p.SubmitN(upTo(500))
			synctest.Wait()
			if got := done.Load(); got != 499 {
				t.Errorf("%d workers: %d of 500 tasks are done while the first runs, want all others", workers, got)
			}
			close(gate)
			p.Close()
		})
	}
}

// As many tasks run at a time as there are workers, wherever the long ones lie.
func TestLongTasksInARow(t *testing.T) {
	const workers, tasks, first, long = 4, 2000, 700, 64
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var running atomic.Int64
		p := pool.New(workers, func(n int) {
			if n >= first && n < first+long {
				running.Add(1)
				<-gate
				running.Add(-1)
			}
		})
		go p.SubmitN(upTo(tasks))
		for left := int64(long); left > 0; left-- {
			synctest.Wait()
			if got, want := running.Load(), min(workers, left); got != want {
				t.Fatalf("%d long tasks run at a time while %d are left, want %d", got, left, want)
			}
			gate <- struct{}{}
		}
		p.Close()
	})
}

// The tasks that Wait waits for may end in the middle of a worker's batch.
func TestWaitEndsAmidABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New(1, func(gate chan struct{}) { <-gate })
		first, behind := make(chan struct{}), make(chan struct{})
		p.Submit(first)
		synctest.Wait() // the worker is busy, so the next ones become one batch
		open := make(chan struct{})
		close(open)
		p.SubmitN([]chan struct{}{open, open, open})
		var waited atomic.Bool
		go func() {
			p.Wait()
			waited.Store(true)
		}()
		synctest.Wait()
		p.SubmitN([]chan struct{}{behind, behind})
		close(first)
		synctest.Wait()
		if !waited.Load() {
			t.Error("Wait waits for a task behind its own in the same batch")
		}
		close(behind)
		p.Close()
	})
}

// Tasks that a worker has started take no place in the queue, also when they are part of a
// batch. So waiting producers get room.
func TestRoomBesideStartedBatches(t *testing.T) {
	const workers, queueMax = 8, 64
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := pool.New(workers, func(n int) {
			if n < workers-1 {
				<-gate // the last task opens it, from behind a full queue
			} else if n == 1000 {
				close(gate)
			}
		}, pool.Queue(queueMax))
		numbers := upTo(1001)
		p.SubmitN(numbers)
		p.Close()
	})
}

// ForEach takes quick items several at a time. When items turn out to be long, a worker gives
// its remaining items to idle workers.
func TestForEachGivesBack(t *testing.T) {
	const items, first, long = 100_000, 500, 64
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var running atomic.Int64
		var rounds int
		over := make(chan error, 1)
		go func() {
			over <- pool.ForEach(t.Context(), 2, upTo(items), func(_ context.Context, n int) error {
				if n >= first && n < first+long {
					running.Add(1)
					<-gate
					running.Add(-1)
				}
				return nil
			})
		}()
		for synctest.Wait(); running.Load() > 0; synctest.Wait() {
			rounds++
			for range running.Load() {
				gate <- struct{}{}
			}
		}
		if err := <-over; err != nil {
			t.Error(err)
		}
		// Serial execution takes 64 rounds and two workers take 32. A few more rounds pass
		// until the busy worker sees that the other one is idle.
		if rounds > long/2+8 {
			t.Errorf("%d rounds for %d long items on 2 workers", rounds, long)
		}
	})
}

// ForEach notices the end of a context soon, because a span is short.
func TestForEachEndsAmidASpan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	after := 0
	err := pool.ForEach(ctx, 1, upTo(1_000_000), func(_ context.Context, n int) error {
		if n == 500_000 {
			cancel()
		} else if n > 500_000 {
			after++
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ForEach = %v, want context.Canceled", err)
	}
	if after > 250_000 {
		t.Errorf("%d items were called after the context had ended", after)
	}
}

// Goexit in the middle of a batch loses neither the worker nor the rest of the batch.
func TestGoexitAmidABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int64
		p := pool.New(2, func(n int) {
			if n%5 == 0 {
				runtime.Goexit()
			}
			done.Add(1)
		})
		p.SubmitN(upTo(1000))
		p.Wait()
		if got := done.Load(); got != 800 {
			t.Errorf("%d tasks done, want the 800 that do not end by Goexit", got)
		}
		if got := p.Stats(); got.Done != 1000 || got.Running != 0 || got.Queued != 0 {
			t.Errorf("Stats() = %+v", got)
		}
		p.Close()
	})
}

// Many producers, thieves and Waits run at once, for the race detector.
func TestThievesAndWaits(t *testing.T) {
	const producers, each = 6, 3000
	counts := make([]atomic.Int32, producers*each)
	p := pool.New(5, func(n int) {
		if n%50 == 0 {
			runtime.Gosched()
		}
		counts[n].Add(1)
	}, pool.Queue(100))
	var all sync.WaitGroup
	for k := range producers {
		all.Go(func() {
			for i := range each {
				p.Submit(k*each + i)
				if i%500 == 499 {
					p.Wait()
					if counts[k*each+i].Load() != 1 {
						t.Errorf("task %d was not done after Wait", k*each+i)
					}
				}
			}
		})
	}
	all.Wait()
	p.Close()
	for n := range counts {
		if c := counts[n].Load(); c != 1 {
			t.Fatalf("task %d ran %d times", n, c)
		}
	}
}

// A task in the batch of a worker that is busy with a long one starts, although other tasks keep
// coming.
func TestTaskBehindALongOneStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const behind, later = 6, 10_000
		gate := make(chan struct{})
		var started, others atomic.Int64
		var p *pool.Pool[string]
		p = pool.New(2, func(task string) {
			switch task {
			case "long":
				<-gate
			case "behind":
				started.Add(1)
			case "other":
				if others.Add(1) == later {
					if started.Load() < behind {
						t.Errorf("%d of %d tasks have started before %d later ones", started.Load(), behind, later)
					}
					close(gate)
				}
				p.TrySubmit("other") // without end, until Close
			}
		})
		p.SubmitN(make([]string, 10_000)) // quick tasks: batches become long
		p.Wait()
		p.SubmitN([]string{"long", "behind", "behind", "behind", "behind", "behind", "behind", "other", "other", "other"})
		<-gate
		p.Close()
	})
}

// A batch does not keep a stolen value alive.
func TestStolenPointersAreReleased(t *testing.T) {
	gate, freed := make(chan struct{}), make(chan struct{})
	var begun atomic.Int64
	p := pool.New(2, func(v *[1 << 20]byte) {
		if v == nil {
			begun.Add(1)
			<-gate
		}
	}, pool.Queue(8))
	busy := func(n int64) {
		eventually(t, "the workers are busy", func() bool { return begun.Load() == n })
	}
	p.Submit(nil)
	p.Submit(nil)
	busy(2)
	p.Submit(nil)
	submitCollectable(p, freed) // in one batch with the previous task
	gate <- struct{}{}
	busy(3)
	gate <- struct{}{} // the worker that has waited longer becomes idle
	awaitCollection(t, freed)
	close(gate)
	p.Close()
}

// As many producers get room as places are free.
func TestEveryFreePlaceWakesAProducer(t *testing.T) {
	const queueMax = 4
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := pool.New(1, func(int) { <-gate }, pool.Queue(queueMax))
		p.Submit(0)
		synctest.Wait()
		p.SubmitN(upTo(queueMax))
		var in atomic.Int64
		for range queueMax {
			go func() {
				p.Submit(1)
				in.Add(1)
			}()
		}
		synctest.Wait()
		for range 1 + queueMax {
			gate <- struct{}{}
			synctest.Wait()
		}
		if got := in.Load(); got != queueMax {
			t.Errorf("%d of %d blocked submissions were let in by an empty queue of as many places", got, queueMax)
		}
		close(gate)
		p.Close()
	})
}
