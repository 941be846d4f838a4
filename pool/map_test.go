package pool_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"muster/pool"
)

// counting yields 0, 1, 2 … for ever and counts in pulled.
func counting(pulled *int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := 0; ; n++ {
			*pulled++
			if !yield(n) {
				return
			}
		}
	}
}

func TestMapKeepsTheOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 5, 40} {
		for _, length := range []int{0, 1, 9, 300} {
			var got []int
			results := pool.Map(t.Context(), workers, slices.Values(upTo(length)), double)
			for out, err := range results {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, out)
			}
			if len(got) != length || !slices.IsSorted(got) {
				t.Errorf("%d items on %d workers: %v", length, workers, got)
			}
		}
	}
}

// The first item is done last, and the others in reverse order.
func TestMapOrdersWhatEndsInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const length = 8
		gates := make([]chan struct{}, length+1)
		for n := range gates {
			gates[n] = make(chan struct{})
		}
		close(gates[length])
		want := 0
		for out, err := range pool.Map(t.Context(), length, slices.Values(upTo(length)), func(_ context.Context, n int) (int, error) {
			<-gates[n+1]
			close(gates[n])
			return n, nil
		}) {
			if out != want || err != nil {
				t.Errorf("got %d, %v in the place of %d", out, err, want)
			}
			want++
		}
		if want != length {
			t.Errorf("%d results, want %d", want, length)
		}
	})
}

func TestMapCanBeRangedOverAgain(t *testing.T) {
	results := pool.Map(t.Context(), 2, slices.Values(upTo(5)), double)
	for range 2 {
		count := 0
		for range results {
			count++
		}
		if count != 5 {
			t.Errorf("%d results, want 5", count)
		}
	}
}

func TestMapLooksAheadWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 3
		pulled, yielded := 0, 0
		results := pool.Map(t.Context(), workers, counting(&pulled), double)
		if pulled > 0 {
			t.Error("Map took an item before anybody ranged over it")
		}
		for range results {
			if ahead := pulled - yielded; ahead > 2*workers {
				t.Errorf("%d items in hand, want at most %d", ahead, 2*workers)
			}
			if yielded++; yielded == 100 {
				break
			}
		}
	})
}

// Behind a slow first item Map reads ahead up to its limit and no further.
func TestMapFillsTheLookAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 3
		pulled := 0
		gate := make(chan struct{})
		go func() {
			synctest.Wait()
			if pulled != 2*workers {
				t.Errorf("%d items taken while the first runs, want %d", pulled, 2*workers)
			}
			close(gate)
		}()
		for range pool.Map(t.Context(), workers, counting(&pulled), func(_ context.Context, n int) (int, error) {
			if n == 0 {
				<-gate
			}
			return n, nil
		}) {
			break
		}
	})
}

// Results that are ready are yielded before seq is asked again.
func TestMapYieldsWhatIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		yielded := 0
		seq := func(yield func(int) bool) {
			for n := range 5 {
				synctest.Wait() // the workers have done all items so far
				if n > 0 && yielded < n-1 {
					t.Errorf("%d results yielded when item %d was asked for", yielded, n)
				}
				if !yield(n) {
					return
				}
			}
		}
		for range pool.Map(t.Context(), 4, seq, double) {
			yielded++
		}
	})
}

func TestMapLeftEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pulled := 0
		second := make(chan struct{})
		var running, ended atomic.Int64
		for range pool.Map(t.Context(), 4, counting(&pulled), func(ctx context.Context, n int) (int, error) {
			switch n {
			case 0:
				<-second // so that calls run when the loop is left
				return n, nil
			case 1:
				close(second)
			}
			running.Add(1)
			<-ctx.Done()
			ended.Add(1)
			return n, nil
		}) {
			synctest.Wait()
			break
		}
		if running.Load() == 0 || ended.Load() != running.Load() {
			t.Errorf("%d calls had ended of %d when the loop was left", ended.Load(), running.Load())
		}
	})
}

func TestMapErrorInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bad, workers = 5, 6
		failed := make(chan struct{})
		pulled := 0
		var got []int
		var last error
		for out, err := range pool.Map(t.Context(), workers, counting(&pulled), func(ctx context.Context, n int) (int, error) {
			switch {
			case n == 0:
				synctest.Wait() // item 5 has failed, and items 1 to 4 wait
				close(failed)
			case n < bad:
				<-failed
			case n == bad:
				return -1, errTask
			}
			return n, ctx.Err() // the error of a later item must not disturb these
		}) {
			got, last = append(got, out), err
		}
		if want := []int{0, 1, 2, 3, 4, 0}; !slices.Equal(got, want) {
			t.Errorf("results %v, want %v", got, want)
		}
		if !errors.Is(last, errTask) {
			t.Errorf("the sequence ended with %v, want the item's error", last)
		}
		// No more than before the error was known.
		if pulled > 2*workers {
			t.Errorf("%d items were taken, want at most %d", pulled, 2*workers)
		}
	})
}

// The error of the earliest item counts, also if a later item failed first.
func TestMapFirstErrorByPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := errors.New("a later item")
		gate := make(chan struct{})
		var afterwards atomic.Int64
		pulled := 0
		for _, err := range pool.Map(t.Context(), 2, counting(&pulled), func(_ context.Context, n int) (int, error) {
			switch n {
			case 0:
				<-gate
				return 0, errTask
			case 1:
				synctest.Wait()
				close(gate)
				return 0, later
			}
			afterwards.Add(1)
			return 0, nil
		}) {
			if !errors.Is(err, errTask) {
				t.Errorf("the sequence ended with %v, want the first item's error", err)
			}
		}
		if afterwards.Load() > 0 {
			t.Errorf("%d items were started behind one that had failed", afterwards.Load())
		}
	})
}

func TestMapContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		pulled, results := 0, 0
		var last error
		for _, err := range pool.Map(ctx, 3, counting(&pulled), double) {
			if results++; results == 10 {
				cancel()
			}
			if results > 100 {
				t.Fatal("the sequence goes on although its context has ended")
			}
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("the sequence ended with %v, want context.Canceled", last)
		}
	})
}

func TestMapGoexitIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := 0
		var last error
		for _, err := range pool.Map(t.Context(), 2, slices.Values(upTo(10)), func(_ context.Context, n int) (int, error) {
			if n == 3 {
				runtime.Goexit()
			}
			return n, nil
		}) {
			results, last = results+1, err
		}
		if results != 4 || last == nil {
			t.Errorf("%d results and at last %v, want an error as the fourth", results, last)
		}
	})
}

// A panic in the loop's body propagates and leaks nothing.
func TestMapBodyPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pulled := 0
		message := panicOf(func() {
			for range pool.Map(t.Context(), 3, counting(&pulled), double) {
				panic("the body's own")
			}
		})
		if message != "the body's own" {
			t.Errorf("panic %q, want the body's", message)
		}
	})
}

// Yielded results and their items are released while the loop continues.
func TestMapLetsGo(t *testing.T) {
	in, out := make(chan struct{}), make(chan struct{})
	items := func(yield func(*[1 << 20]byte) bool) {
		if yield(collectable(in)) {
			yield(nil)
		}
	}
	// With this many workers no place in the ring is reused.
	for v, err := range pool.Map(t.Context(), 9, items, func(_ context.Context, v *[1 << 20]byte) (*[1 << 20]byte, error) {
		if v == nil {
			return nil, nil
		}
		return collectable(out), nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
		if v == nil {
			awaitCollection(t, in)
			awaitCollection(t, out)
		}
	}
}
