package pool

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// ForEach calls do for every item, on at most so many goroutines at the same
// time, and returns when all calls have returned.
//
// The first call that returns an error ends the context that the others got,
// with that error as its cause, and its error is returned. After that no
// further item is taken; one that was just taken may still be called, with a
// context that has ended. When ctx ends, no further item is taken either, and
// ForEach returns ctx.Err() unless a call returned an error or all had been
// taken. A call that ends by runtime.Goexit counts as failed.
//
// Items are taken in order, one by one as long as calls take 10 µs or more, and
// several at a time, some microseconds' worth, where they are quicker. Those too
// are given back when another goroutine has nothing to do. What is in hand when
// ctx ends may still be called. A call must not wait for that of another item
// where there are more items than workers: a [Pool] is for tasks that do.
//
// ForEach panics if workers is below 1.
//
// A trivial item costs about 1.6 ns (2 workers, a machine with 2 cores): nearly all of
// it is the call through a variable, of which each worker makes one in 3 ns.
func ForEach[T any](ctx context.Context, workers int, items []T, do func(context.Context, T) error) error {
	checkWorkers(workers)
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers = min(workers, len(items))
	s := &sweep[T]{ctx: inner, cancel: cancel, items: items, do: do, workers: workers, active: workers}
	s.changed.L = &s.mu
	// One that ends is seen between two items, and at every look for further ones. Of
	// ctx this might hear before inner ends, and a worker that looks then forget it.
	defer context.AfterFunc(inner, func() { s.attention.Store(true) })()
	var c crew
	for range workers {
		w := &sweeper[T]{sweep: s, most: 1}
		c.add(w.step)
	}
	c.wait()
	if s.err == nil && s.left() > 0 {
		return ctx.Err()
	}
	return s.err
}

// A sweep is one call of ForEach.
type sweep[T any] struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	items   []T
	do      func(context.Context, T) error
	workers int

	// attention makes workers look up between two items: an end, or another worker
	// that has none while they may have several.
	attention atomic.Bool
	_         line

	mu      sync.Mutex
	changed sync.Cond // workers without items wait: some were given back, or all are done
	taken   int       // items, from the first
	back    []span    // taken, and given back
	active  int       // workers that have items
	err     error     // the first
}

// span is the items from one to before another.
type span struct{ from, to int }

// spanTime is how long the items that a worker takes at once should take together:
// long beside what taking costs, some 100 ns, and short for whoever has none.
const spanTime = 5 * time.Microsecond

// A sweeper is one of a sweep's workers.
type sweeper[T any] struct {
	*sweep[T]
	most    int  // items that it may take at once
	calling bool // while it calls, and after a call that did not return
}

// step takes some items and calls do for each.
func (w *sweeper[T]) step() bool {
	if w.calling {
		w.fail(errGoexit)
	}
	items, ok := w.take()
	if !ok {
		return false
	}
	n, began := items.to-items.from, time.Now()
	w.calling = true
	w.call(items)
	w.calling = false
	w.most = fitting(n, time.Since(began))
	return true
}

// call calls do for items, or for some of them when others want the rest.
func (w *sweeper[T]) call(items span) {
	s, do := w.sweep, w.do // in registers
	for i := items.from; i < items.to; i++ {
		if err := do(s.ctx, s.items[i]); err != nil {
			s.fail(err)
		}
		if s.attention.Load() {
			items.to = s.share(span{i + 1, items.to})
		}
	}
}

// fitting is how many items to take after so many that took so long.
func fitting(n int, took time.Duration) int {
	if took <= spanTime/2 {
		return 2 * n
	}
	return max(1, int(int64(n)*int64(spanTime)/int64(took)))
}

// take returns the next items, in order but for those that were given back, and waits
// while some may be. There are none when all are done, or none may be begun any more.
func (w *sweeper[T]) take() (span, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.over() {
		if items := w.next(w.most); items.to > items.from {
			return items, true
		}
		if w.active--; w.active == 0 {
			w.changed.Broadcast()
			return span{}, false
		}
		w.attention.Store(true)
		w.changed.Wait()
		if w.active++; w.active == w.workers {
			w.attention.Store(w.over())
		}
	}
	w.changed.Broadcast()
	return span{}, false
}

// over reports whether no item may be begun any more. s.mu is held.
func (s *sweep[T]) over() bool { return s.err != nil || s.ctx.Err() != nil }

// next takes up to most items, fewer towards the end. s.mu is held.
func (s *sweep[T]) next(most int) span {
	if last := len(s.back) - 1; last >= 0 {
		b := &s.back[last]
		items := span{b.from, min(b.to, b.from+most)}
		if b.from = items.to; b.from == b.to {
			s.back = s.back[:last]
		}
		return items
	}
	from, left := s.taken, len(s.items)-s.taken
	s.taken += min(most, max(1, left/(2*s.workers)), left)
	return span{from, s.taken}
}

// share gives half of the items that a worker still has to those that have none, or
// all when none may be begun any more. It returns the end of what the worker keeps.
func (s *sweep[T]) share(rest span) (to int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := (rest.to - rest.from + 1) / 2
	if s.over() {
		keep = 0
	}
	if keep < rest.to-rest.from {
		s.back = append(s.back, span{rest.from + keep, rest.to})
		s.changed.Broadcast()
	}
	return rest.from + keep
}

// fail notes the first error and ends the others' context.
func (s *sweep[T]) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		s.attention.Store(true)
		s.cancel(err)
	}
}

// left is how many items were not begun.
func (s *sweep[T]) left() int {
	n := len(s.items) - s.taken
	for _, b := range s.back {
		n += b.to - b.from
	}
	return n
}
