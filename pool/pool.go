// Package pool runs many tasks on a fixed, small number of goroutines.
//
// It is for programs with more to do than they may do at once: files to open,
// commands to run, messages to handle. It bounds two things, what runs and what
// waits to run, and makes whoever submits wait when both bounds are reached.
//
//   - [Pool] runs one function over values that come one by one.
//   - [ForEach] runs a function over a slice and stops at the first error.
//   - [Map] runs a function over a sequence and gives the results in order.
//
// A panic in a function given to this package ends the program, as one in any
// goroutine does. A function that calls [runtime.Goexit], as t.FailNow does,
// ends its task and not the worker.
//
// The package must not swallow panics, log, retry or decide what runs first, and
// imports the standard library only.
package pool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// ErrClosed is the error of a submission to a pool that was closed.
var ErrClosed = errors.New("pool: closed")

// queueDefault is the number of places without the option [Queue].
const queueDefault = 1024

// A Pool runs one function, the handler, over the values submitted to it, on a
// fixed number of worker goroutines. A value with its call of the handler is
// called a task.
//
// Any number of goroutines may call any of its methods at the same time. What a
// goroutine did before it submitted a value is visible to the handler, and what
// the handler did is visible after the Wait or Close that waited for it.
//
// No task stays in the queue while a worker has nothing to do. So tasks may
// wait for one another, as long as all that wait and all that are waited for,
// those among them that are not submitted yet included, are at any time no more
// than the workers. Beyond that they may deadlock, because tasks start roughly
// in the order in which they were submitted and no exact order is promised.
//
// A trivial task costs about 26 ns with [Pool.Submit], about 35 when eight
// goroutines submit, and about 10 with [Pool.SubmitN] in batches of 64 (2 workers,
// GOMAXPROCS 2, a machine with 2 cores; a channel read by 2 goroutines takes about
// 45, and 78 with eight). Nothing is allocated per task. A pool without tasks costs
// no processor time.
type Pool[T any] struct {
	handle  func(T)
	crew    crew
	workers []worker[T]

	// awaited is the lowest number that a Wait waits for, or none. Workers look at it
	// with every task, so it does not lie beside what changes often.
	awaited atomic.Uint64
	_       line

	mu       sync.Mutex
	work     sync.Cond // workers wait: tasks that nobody has started, or the pool was closed
	room     sync.Cond // producers wait: half of the places are free, the pool was closed, a context ended
	progress sync.Cond // Wait waits: every task before awaited is done

	queue   ring[T]
	credit  int    // values that may be put in before the places are counted again
	waiting int    // producers that wait for room
	parked  int    // workers that wait for work
	waking  bool   // one of those was woken and is on its way
	closed  bool   // then there is no credit
	claimed uint64 // tasks ever taken from the queue; the next one gets this number
}

// New starts a pool of so many workers. The handler is called by several of
// them at the same time. Close ends them; a pool that is not closed keeps its
// goroutines for ever.
//
// New panics if workers is below 1 or handler is nil.
func New[T any](workers int, handler func(T), options ...Option) *Pool[T] {
	checkWorkers(workers)
	if handler == nil {
		panic("pool: New needs a handler")
	}
	s := settings{queueMax: queueDefault, batchMax: batchMax}
	for _, set := range options {
		set(&s)
	}
	p := &Pool[T]{
		handle:  handler,
		queue:   ring[T]{places: make([]T, s.queueMax)},
		credit:  s.queueMax,
		workers: make([]worker[T], workers),
	}
	p.awaited.Store(none)
	p.work.L, p.room.L, p.progress.L = &p.mu, &p.mu, &p.mu
	places := min(s.batchMax, s.queueMax/workers+1) // of a batch: see take
	batches := make([]T, workers*places)
	for i := range p.workers {
		w := &p.workers[i]
		w.hand.Store(1) // nothing, and all of it done
		w.batch, batches = split(batches, places)
		p.crew.add(func() bool { return p.step(w) })
	}
	return p
}

// Submit queues v. It blocks while the queue is full or others wait for room,
// and may stay blocked until half of the queue is free and a worker comes back
// for more: it takes up to 64 tasks at a time.
//
// Submit panics if the pool is closed, also when that happens while it blocks:
// whoever closes the pool must know that nobody submits any more.
//
// A handler that calls Submit may deadlock: when the queue is full and all
// workers are in Submit, nobody is left to make room. It calls TrySubmit, and
// where that returns false does the work itself.
func (p *Pool[T]) Submit(v T) {
	p.lock()
	if p.credit == 0 {
		defer p.mu.Unlock()
		p.awaitRoom("Submit")
		p.push(v)
		return
	}
	p.push(v)
	p.mu.Unlock()
}

// SubmitN queues all of vs, in order but not necessarily side by side, for
// fewer locks and wake-ups than as many calls of Submit. It may block and panic
// as Submit does; the values that were queued until then are handled. vs is
// copied, and may be longer than the queue.
func (p *Pool[T]) SubmitN(vs []T) {
	p.lock()
	defer p.mu.Unlock()
	for len(vs) > 0 {
		p.awaitRoom("SubmitN")
		n := min(len(vs), p.credit)
		p.queue.pushAll(vs[:n])
		p.credit -= n
		p.wakeWorker()
		vs = vs[n:]
	}
}

// TrySubmit queues v if that is possible without waiting, and reports whether
// it was: it is not when the queue is full, when others wait for room, or when
// the pool is closed.
func (p *Pool[T]) TrySubmit(v T) bool {
	p.lock()
	defer p.mu.Unlock()
	if p.full() {
		return false
	}
	p.push(v)
	return true
}

// SubmitContext is Submit that gives up: with ctx.Err() when ctx ends before
// there is room, and with ErrClosed when the pool is closed. With an error, v
// was not queued. The context does not reach the handler.
func (p *Pool[T]) SubmitContext(ctx context.Context, v T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.lock()
	defer p.mu.Unlock()
	if p.full() && !p.closed {
		stop := context.AfterFunc(ctx, p.wakeProducers)
		defer stop()
	}
	for p.full() && !p.closed {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.awaitChange()
	}
	if p.closed {
		return ErrClosed
	}
	// A ctx that has ended meanwhile does not matter: this call may have taken
	// the only wake-up for this place, and nobody else would come for it.
	p.push(v)
	return nil
}

// Wait blocks until every task submitted so far is done. Tasks that are
// submitted while it waits do not prolong it, and the pool remains usable. A
// handler must not call Wait: it would wait for itself.
func (p *Pool[T]) Wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := p.claimed + uint64(p.queue.count)
	for p.oldest() < end {
		p.awaited.Store(min(p.awaited.Load(), end))
		if p.oldest() >= end {
			p.announce() // whose task it was may not have seen that anybody waits
			return
		}
		p.progress.Wait()
	}
}

// Close stops accepting tasks, lets the workers do those in the queue, and
// returns when the last worker has ended. It may be called again, and at the
// same time: every call returns only then. A handler must not call Close: it
// would wait for itself.
func (p *Pool[T]) Close() {
	p.mu.Lock()
	p.closed, p.credit = true, 0
	p.work.Broadcast()
	p.room.Broadcast()
	p.mu.Unlock()
	p.crew.wait()
}

// step runs tasks as worker w until the pool is closed and there are no more. After a
// task that ended by Goexit it is called anew; to claim the next one counts that.
func (p *Pool[T]) step(w *worker[T]) bool {
	for {
		place, ok := w.claim()
		if !ok {
			if !p.refill(w) {
				return false
			}
			place = 0
		}
		if w.first+uint64(place) == p.awaited.Load() {
			p.passed()
		}
		p.handle(w.start(place))
	}
}

// refill settles the batch that worker w has done, and waits for its next one. There
// is none when the pool is closed and nobody has a task left that is not started.
func (p *Pool[T]) refill(w *worker[T]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	for !p.take(w) {
		if p.closed {
			return false
		}
		p.admit()
		p.parked++
		p.work.Wait()
		p.parked--
		p.waking = false
	}
	if p.parked > 0 && p.unstarted() > 0 {
		p.wakeWorker()
	}
	p.admit()
	return true
}

// take gives worker w some of the queue, a fair share so that the others find some
// too, or half of what another has not started. p.mu is held.
func (p *Pool[T]) take(w *worker[T]) bool {
	if n := min(p.queue.count, p.queue.count/len(p.workers)+1, len(w.batch)); n > 0 {
		p.queue.popAll(w.batch[:n])
		w.give(n, p.claimed)
		p.claimed += uint64(n)
		return true
	}
	for i := range p.workers {
		if from := &p.workers[i]; from != w && w.steal(from) {
			return true
		}
	}
	return false
}

// passed is called by a worker whose tasks before awaited are done.
func (p *Pool[T]) passed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
}

// settle looks whether a Wait is over. p.mu is held.
func (p *Pool[T]) settle() {
	// The first comparison costs nothing and nearly always settles it.
	if awaited := p.awaited.Load(); p.claimed >= awaited && p.oldest() >= awaited {
		p.announce()
	}
}

// announce wakes all Waits. Whoever still has to wait says so again.
func (p *Pool[T]) announce() {
	p.awaited.Store(none)
	p.progress.Broadcast()
}

// oldest returns the number of the first task that is not done; all before it
// are. The count of tasks done would not tell: a later one may have overtaken
// it. p.mu is held.
func (p *Pool[T]) oldest() uint64 {
	first := p.claimed
	for i := range p.workers {
		first = min(first, p.workers[i].oldest())
	}
	return first
}

// unstarted counts the tasks that are nobody's yet. p.mu is held.
func (p *Pool[T]) unstarted() int {
	n := p.queue.count
	for i := range p.workers {
		n += p.workers[i].unstarted()
	}
	return n
}

// lock takes the mutex as a producer. One that finds it taken lets a few microseconds
// pass before it looks again, in which the other submits a hundred values: to take turns
// would move the queue from one processor's cache to the other's with each value. Nor
// does it sleep at once, as it would in the mutex, for that and the waking cost more.
func (p *Pool[T]) lock() {
	if !p.mu.TryLock() {
		p.lockBusy()
	}
}

func (p *Pool[T]) lockBusy() {
	const tries = 4
	for range tries {
		_ = spin()
		if p.mu.TryLock() {
			return
		}
	}
	p.mu.Lock()
}

// spin takes about 2 µs.
//
//go:noinline
func spin() (turns int) {
	for i := range 6000 {
		turns ^= i
	}
	return turns
}

// push queues v. There is credit and p.mu is held.
func (p *Pool[T]) push(v T) {
	p.credit--
	p.queue.push(v)
	p.wakeWorker()
}

// wakeWorker wakes one worker, unless one is on its way: that one, once it has taken
// its share, wakes the next while there is something left. p.mu is held.
func (p *Pool[T]) wakeWorker() {
	if p.parked > 0 && !p.waking {
		p.waking = true
		p.work.Signal()
	}
}

// full counts the free places when those that are known of are used up, and reports
// whether there is none. While others wait it does not count: they are let in when half
// is free, and who took each single place before that would keep them out for ever.
// p.mu is held.
func (p *Pool[T]) full() bool {
	if p.credit == 0 && p.waiting == 0 && !p.closed {
		p.credit = len(p.queue.places) - p.unstarted()
	}
	return p.credit == 0
}

// admit wakes producers when half of the places are free: for each place there would
// be as many changes of goroutines as tasks. p.mu is held.
func (p *Pool[T]) admit() {
	half := len(p.queue.places) / 2
	if p.waiting == 0 || p.closed || p.queue.count > half {
		return
	}
	used := p.unstarted()
	if used > half {
		return
	}
	p.credit = len(p.queue.places) - used
	for range min(p.waiting, p.credit) {
		p.room.Signal()
	}
}

// awaitRoom returns when there is a free place. It panics, in the name of the given
// method, if the pool is closed. p.mu is held.
func (p *Pool[T]) awaitRoom(method string) {
	for p.full() && !p.closed {
		p.awaitChange()
	}
	if p.closed {
		panic("pool: " + method + " on a closed pool")
	}
}

// awaitChange waits as a producer. p.mu is held.
func (p *Pool[T]) awaitChange() {
	p.waiting++
	p.room.Wait()
	p.waiting--
}

// wakeProducers makes them look at their contexts again.
func (p *Pool[T]) wakeProducers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.room.Broadcast()
}

// split cuts off the first n places of a slice.
func split[T any](s []T, n int) (first, rest []T) { return s[:n:n], s[n:] }
