package pool_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/pool"
)

var errTask = errors.New("the task failed")

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func TestForEachTakesEveryItemOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 7, 1000} {
		for _, length := range []int{0, 1, 6, 500} {
			counts := make([]atomic.Int32, length)
			err := pool.ForEach(t.Context(), workers, upTo(length), func(_ context.Context, n int) error {
				counts[n].Add(1)
				return nil
			})
			if err != nil {
				t.Errorf("%d items on %d workers: %v", length, workers, err)
			}
			for n := range counts {
				if c := counts[n].Load(); c != 1 {
					t.Errorf("%d items on %d workers: item %d was taken %d times", length, workers, n, c)
				}
			}
		}
	}
}

// All workers run at the same time. ForEach starts no more goroutines than items: otherwise
// the last case would never end.
func TestForEachWorkers(t *testing.T) {
	for _, c := range []struct{ workers, items, want int }{{4, 100, 4}, {100, 4, 4}, {math.MaxInt, 4, 4}} {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			var started atomic.Int64
			go func() {
				synctest.Wait()
				if got := int(started.Load()); got != c.want {
					t.Errorf("%d of %d items run at once on %d workers, want %d", got, c.items, c.workers, c.want)
				}
				close(gate)
			}()
			err := pool.ForEach(t.Context(), c.workers, upTo(c.items), func(context.Context, int) error {
				started.Add(1)
				<-gate
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestForEachFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int64
		err := pool.ForEach(t.Context(), 3, upTo(100), func(ctx context.Context, n int) error {
			started.Add(1)
			if n == 2 {
				synctest.Wait() // items 0 and 1 wait for their context
				return errTask
			}
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), errTask) {
				t.Errorf("the context's cause is %v, want the first error", context.Cause(ctx))
			}
			return errors.New("a later error")
		})
		if !errors.Is(err, errTask) {
			t.Errorf("ForEach = %v, want the first error", err)
		}
		if started.Load() != 3 {
			t.Errorf("%d items were taken, want none after the error at the third", started.Load())
		}
	})
}

func TestForEachContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var once sync.Once
		var started atomic.Int64
		err := pool.ForEach(ctx, 2, upTo(100), func(ctx context.Context, _ int) error {
			started.Add(1)
			once.Do(cancel)
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ForEach = %v, want context.Canceled", err)
		}
		if started.Load() > 2 {
			t.Errorf("%d items were taken, want none after the context ended", started.Load())
		}
	})
}

// ForEach ignores a context that ends after all items were taken.
func TestForEachContextEndsLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := pool.ForEach(ctx, 1, upTo(3), func(_ context.Context, n int) error {
		if n == 2 {
			cancel()
		}
		return nil
	})
	if err != nil {
		t.Errorf("ForEach = %v after all items were done", err)
	}
}

func TestForEachGoexitIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := pool.ForEach(t.Context(), 2, upTo(10), func(_ context.Context, n int) error {
			if n == 3 {
				runtime.Goexit()
			}
			return nil
		})
		if err == nil {
			t.Error("ForEach returned no error although a call did not return")
		}
	})
}

// A slowContext runs its callbacks only when the test calls them. Contexts promise no order
// of callbacks.
type slowContext struct {
	context.Context
	done      chan struct{}
	callbacks []func()
	stopped   int // how many callbacks were stopped
}

func (s *slowContext) Done() <-chan struct{} { return s.done }

func (s *slowContext) Err() error {
	select {
	case <-s.done:
		return context.Canceled
	default:
		return nil
	}
}

func (s *slowContext) AfterFunc(f func()) (stop func() bool) {
	s.callbacks = append(s.callbacks, f)
	return func() bool { s.stopped++; return true }
}

// A worker that holds several items stops when the context ends, also if at the same moment an
// idle worker gets some.
func TestForEachContextEndsWhileSharing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const one = 5000 // while this item runs, the others are done, except those in its span
		// Until item one starts, the other worker is busy with item 0. So the spans are always
		// the same, and the span of item one does not end with it.
		alone := make(chan struct{})
		ctx := &slowContext{Context: t.Context(), done: make(chan struct{})}
		first, others := make(chan struct{}), make(chan struct{})
		var late atomic.Int64
		var sharing atomic.Bool
		over := make(chan error, 1)
		go func() {
			over <- pool.ForEach(ctx, 2, upTo(2*one), func(_ context.Context, n int) error {
				if n == 0 {
					<-alone
				} else if n == one {
					close(alone)
					<-first
				} else if sharing.Load() {
					late.Add(1)
					<-others
				}
				return nil
			})
		}()
		synctest.Wait()
		sharing.Store(true)
		close(ctx.done)
		for _, callback := range ctx.callbacks[1:] {
			callback()
		}
		synctest.Wait()
		close(first)
		synctest.Wait()
		ctx.callbacks[0]()
		synctest.Wait()
		close(others)
		if err := <-over; late.Load() > 2 || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, and %d items were called after the context had ended; want at most one per worker", err, late.Load())
		}
	})
}

// An error also ends workers that are idle.
func TestForEachErrorBesideIdleWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := pool.ForEach(t.Context(), 3, upTo(3), func(_ context.Context, n int) error {
			if n < 2 {
				return nil
			}
			synctest.Wait() // the other workers are idle and wait for items that are given back
			return errTask
		})
		if !errors.Is(err, errTask) {
			t.Errorf("ForEach = %v, want the error of the last item", err)
		}
	})
}

// A worker that took several items starts none after the one that failed.
func TestForEachErrorAmidASpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // calls take no time in a bubble, so the worker takes many items
		last := 0
		err := pool.ForEach(t.Context(), 1, upTo(10_000), func(_ context.Context, n int) error {
			if last = n; n == 5000 {
				return errTask
			}
			return nil
		})
		if !errors.Is(err, errTask) || last != 5000 {
			t.Errorf("%v, and item %d was called last; want none after the error at 5000", err, last)
		}
	})
}

// Long items are taken one by one and in order, also after quick items.
func TestForEachTakesLongItemsOneByOne(t *testing.T) {
	const workers, items, quick, last = 2, 1000, 200, 50
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int64
		err := pool.ForEach(t.Context(), workers, upTo(items), func(_ context.Context, n int) error {
			if n >= items-last {
				// Two items that are taken at the same moment may start in any order.
				if before := int(begun.Add(1)) - 1; max(before-(n-items+last), (n-items+last)-before) > workers {
					t.Errorf("item %d of the last %d was begun after %d of them", n-items+last, last, before)
				}
			}
			if n >= quick {
				<-time.After(time.Second) // fake time in the bubble
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
