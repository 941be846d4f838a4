package pool

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// ForEach calls do for every item, on at most workers goroutines at the same time, and returns
// when all calls have returned.
//
// The first call that returns an error cancels the context of the other calls, with that error
// as the cause. ForEach returns that error. It then starts no further item, except that a
// worker may still call an item that it just took, with a cancelled context. When ctx ends,
// ForEach starts no further item either. It then returns ctx.Err(), unless a call returned an
// error or all items had been taken. A call that ends by runtime.Goexit counts as failed.
//
// Workers take items in order: one by one while calls take 10 µs or more, and a few
// microseconds' worth at a time when calls are quicker. A worker gives items back when another
// worker is idle. Items that a worker holds when ctx ends may still be called. If there are
// more items than workers, a call must not wait for the call of another item. Use a [Pool] for
// such tasks.
//
// ForEach panics if workers is below 1.
//
// A trivial item costs about 1.6 ns (2 workers, a machine with 2 cores). Nearly all of that is
// the indirect call, which takes each worker about 3 ns.
func ForEach[T any](ctx context.Context, workers int, items []T, do func(context.Context, T) error) error {
	checkWorkers(workers)
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers = min(workers, len(items))
	s := &sweep[T]{ctx: inner, cancel: cancel, items: items, do: do, workers: workers, active: workers}
	s.changed.L = &s.mu
	// Workers notice the end of the context between two items, and whenever they take items.
	// AfterFunc watches inner, not ctx: ctx may report its end before inner has ended, and a
	// worker that checks inner in between would clear the flag.
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

	// attention makes workers call share between two items: the sweep must end, or another
	// worker is idle while they may hold several items.
	attention atomic.Bool
	_         cacheLine

	mu      sync.Mutex
	changed sync.Cond // idle workers wait: items were given back, or the sweep is over
	taken   int       // the number of items taken so far, in order
	back    []span    // items that were taken and given back
	active  int       // workers that have items
	err     error     // the first error
}

// A span is the items from from up to, but not including, to.
type span struct{ from, to int }

// spanTime is how long the items that a worker takes at once should take together. It is long
// compared with taking them (about 100 ns) and short for a worker that is idle meanwhile.
const spanTime = 5 * time.Microsecond

// A sweeper is one of a sweep's workers.
type sweeper[T any] struct {
	*sweep[T]
	most    int  // how many items the worker may take at once
	calling bool // true during a call, and after a call that did not return
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
	w.most = fittingCount(n, time.Since(began))
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

// fittingCount returns how many items fill spanTime, given that n items took this long.
func fittingCount(n int, took time.Duration) int {
	if took <= spanTime/2 {
		return 2 * n
	}
	return max(1, int(int64(n)*int64(spanTime)/int64(took)))
}

// take returns the next items, in order except for items that were given back. It waits while
// other workers may still give items back. It returns false when all items are done or no
// further item may start.
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

// over reports whether no further item may start. s.mu is held.
func (s *sweep[T]) over() bool { return s.err != nil || s.ctx.Err() != nil }

// next takes up to most items, and fewer towards the end. s.mu is held.
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

// share gives half of a worker's remaining items to idle workers, or all of them when no
// further item may start. It returns the end of the items that the worker keeps.
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

// fail records the first error and cancels the context of the other calls.
func (s *sweep[T]) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		s.attention.Store(true)
		s.cancel(err)
	}
}

// left counts the items that were not started.
func (s *sweep[T]) left() int {
	n := len(s.items) - s.taken
	for _, b := range s.back {
		n += b.to - b.from
	}
	return n
}
