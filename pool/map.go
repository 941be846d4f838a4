package pool

import (
	"context"
	"iter"
	"math"
	"sync/atomic"
)

// aheadPerWorker is how many items Map may have in hand per worker. One runs, and one waits to
// run or to be yielded. So a worker is not idle while the oldest item or the consumer is slow.
const aheadPerWorker = 2

// Map calls do for the items of seq, on workers goroutines at the same time, and yields the
// results in the order of the items.
//
// Nothing happens until somebody ranges over the result. Each range loop starts anew. seq runs
// on the goroutine of the loop, between two results and never at the same time as the loop's
// body. Map asks seq for an item only while fewer than 2 × workers items are in hand. An item
// is in hand from when seq returns it until its result is yielded. A seq that blocks delays
// results that are ready. A seq that waits for a result may deadlock.
//
// Map yields an error instead of its item, with a zero R, and ends the sequence. Earlier
// items are completed, so the error is that of the first item that fails. Later items are not
// started once the error is known. When ctx ends, items that were not started have the error
// ctx.Err(). A call that ends by runtime.Goexit has an error too.
//
// When the sequence ends, by an error or because the loop was left, Map cancels the context of
// the calls and waits for those that still run. It leaves no goroutine behind.
//
// Map panics if workers is below 1.
//
// A trivial item costs about 195 ns (2 workers, a machine with 2 cores).
func Map[T, R any](ctx context.Context, workers int, seq iter.Seq[T], do func(context.Context, T) (R, error)) iter.Seq2[R, error] {
	checkWorkers(workers)
	return func(yield func(R, error) bool) {
		m := newMapping(ctx, workers, do)
		defer m.stop()
		for v := range seq {
			m.start(v)
			for m.full() || m.ready() {
				if !m.yieldOldest(yield) {
					return
				}
			}
		}
		for m.begun > m.yielded && m.yieldOldest(yield) {
		}
	}
}

// A mapping is one loop over the result of Map. Only the goroutine of the loop uses begun and
// yielded.
type mapping[T, R any] struct {
	ctx      context.Context
	cancel   context.CancelFunc
	do       func(context.Context, T) (R, error)
	workers  int
	crew     crew
	items    []item[T, R] // a ring: item n is items[n%len(items)]
	queue    chan *item[T, R]
	begun    int
	yielded  int
	failedAt atomic.Int64 // the lowest number of an item that failed
}

// An item belongs to the goroutine of the loop until it is queued, and then to a worker until
// the worker puts a token into over.
type item[T, R any] struct {
	number int
	in     T
	out    R
	err    error
	over   chan struct{}
}

func newMapping[T, R any](ctx context.Context, workers int, do func(context.Context, T) (R, error)) *mapping[T, R] {
	m := &mapping[T, R]{do: do, workers: workers, items: make([]item[T, R], aheadPerWorker*workers)}
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.queue = make(chan *item[T, R], len(m.items))
	m.failedAt.Store(math.MaxInt64)
	for i := range m.items {
		m.items[i].over = make(chan struct{}, 1)
	}
	return m
}

// start queues v for the workers. It does not block, because the queue has a place for every
// item in hand.
func (m *mapping[T, R]) start(v T) {
	it := m.at(m.begun)
	it.number, it.in = m.begun, v
	m.begun++
	m.queue <- it
	if m.begun <= m.workers {
		m.crew.add(m.worker())
	}
}

// full reports whether Map must not ask seq for more: too many items are in hand, or an item
// has failed, and no result after it will be yielded.
func (m *mapping[T, R]) full() bool {
	return m.begun-m.yielded == len(m.items) || m.failedAt.Load() < int64(m.begun)
}

// ready reports whether the oldest item in hand is done.
func (m *mapping[T, R]) ready() bool {
	return m.begun > m.yielded && len(m.at(m.yielded).over) > 0
}

// yieldOldest waits for the oldest item in hand, yields it, and reports whether the loop
// continues.
func (m *mapping[T, R]) yieldOldest(yield func(R, error) bool) bool {
	it := m.at(m.yielded)
	<-it.over
	m.yielded++
	out, err := it.out, it.err
	var none R
	it.out = none // the ring must not keep it alive
	if err != nil {
		yield(none, err)
		return false
	}
	return yield(out, nil)
}

func (m *mapping[T, R]) at(number int) *item[T, R] { return &m.items[number%len(m.items)] }

// worker returns the step of one goroutine: finish the last item, then compute the next one.
func (m *mapping[T, R]) worker() func() bool {
	var last *item[T, R]
	return func() bool {
		if last != nil {
			m.finish(last)
		}
		it, open := <-m.queue
		last = it
		if open {
			m.compute(it)
		}
		return open
	}
}

func (m *mapping[T, R]) compute(it *item[T, R]) {
	switch err := m.ctx.Err(); {
	case err != nil:
		it.err = err
	case int64(it.number) > m.failedAt.Load():
		it.err = context.Canceled // never yielded: the sequence ends before this item
	default:
		it.err = errGoexit // remains if do does not return
		it.out, it.err = m.do(m.ctx, it.in)
	}
}

func (m *mapping[T, R]) finish(it *item[T, R]) {
	var none T
	it.in = none // the ring must not keep it alive
	if it.err != nil {
		m.recordFailure(int64(it.number))
	}
	it.over <- struct{}{}
}

func (m *mapping[T, R]) recordFailure(number int64) {
	for {
		lowest := m.failedAt.Load()
		if number >= lowest || m.failedAt.CompareAndSwap(lowest, number) {
			return
		}
	}
}

func (m *mapping[T, R]) stop() {
	m.cancel()
	close(m.queue)
	m.crew.wait()
}
