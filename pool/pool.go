// Package pool runs many tasks on a fixed, small number of goroutines. It bounds how many
// tasks run and how many wait. Submitters wait when both bounds are reached.
//
//   - [Pool] runs one function over values that come one by one.
//   - [ForEach] runs a function over a slice and stops at the first error.
//   - [Map] runs a function over a sequence and yields the results in order.
//
// A panic in a function ends the program, as in any goroutine. [runtime.Goexit] ends its task,
// not the worker.
//
// The package must not swallow panics, log, retry or decide what runs first. It imports only
// the standard library.
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

// A Pool runs one function, the handler, over the values submitted to it, on a fixed number of
// worker goroutines. A task is a value with its call of the handler.
//
// Any number of goroutines may call any of its methods at the same time. The handler sees
// everything that a goroutine did before it submitted the value. After Wait or Close, the
// caller sees everything that the handlers did.
//
// No task stays in the queue while a worker is idle. So tasks may wait for one another, as
// long as the tasks that wait, and those that they wait for, are never more than the workers.
// Tasks that are not yet submitted count too. Beyond that, tasks may deadlock, because they
// start roughly, but not exactly, in the order of submission.
//
// A trivial task costs about 26 ns with [Pool.Submit], about 35 ns when eight goroutines
// submit, and about 10 ns with [Pool.SubmitN] in batches of 64 (2 workers, GOMAXPROCS 2, a
// machine with 2 cores). A channel that 2 goroutines read takes about 45 ns, and 78 ns with
// eight senders. A task allocates nothing. An idle pool uses no processor time.
type Pool[T any] struct {
	handle  func(T)
	crew    crew
	workers []worker[T]

	// awaited is the lowest task number that a Wait waits for, or none. Workers read it for
	// every task, so it is kept apart from fields that change often.
	awaited atomic.Uint64
	_       line

	mu       sync.Mutex
	work     sync.Cond // workers wait: tasks are unstarted, or the pool was closed
	room     sync.Cond // producers wait: half of the places are free, the pool was closed, or a context ended
	progress sync.Cond // Wait waits: all tasks before awaited are done

	queue   ring[T]
	credit  int  // values that may be queued before free places are counted again; 0 after Close
	waiting int  // producers that wait for room
	parked  int  // workers that wait for work
	waking  bool // a parked worker was woken and does not run yet
	closed  bool
	claimed uint64 // tasks ever taken from the queue: the number of the next task
}

// New starts a pool of workers goroutines. Several of them call the handler at the same time.
// Close ends them. A pool that is never closed keeps its goroutines.
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
	places := min(s.batchMax, s.queueMax/workers+1) // per batch, as takeBatch fills it
	batches := make([]T, workers*places)
	for i := range p.workers {
		w := &p.workers[i]
		w.hand.Store(1) // an empty batch, all of it done
		w.batch, batches = batches[:places:places], batches[places:]
		p.crew.add(func() bool { return p.step(w) })
	}
	return p
}

// Submit queues v. It blocks while the queue is full or other producers wait for room. It may
// stay blocked until half of the queue is free and a worker needs tasks again, because a
// worker takes up to 64 tasks at a time.
//
// Submit panics if the pool is closed, also while Submit blocks. Close the pool only when
// nobody submits any more.
//
// A handler that calls Submit may deadlock: when the queue is full and all workers are in
// Submit, no worker makes room. Call TrySubmit in a handler, and do the work there if
// TrySubmit returns false.
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

// SubmitN queues all of vs, in order but not necessarily side by side. It needs fewer locks
// and wake-ups than separate calls of Submit. It may block and panic as Submit does. Values
// that were queued before a panic are handled. SubmitN copies vs, which may be longer than the
// queue.
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

// TrySubmit queues v if it can do so without waiting, and reports whether it did. It returns
// false when the queue is full, other producers wait for room, or the pool is closed.
func (p *Pool[T]) TrySubmit(v T) bool {
	p.lock()
	defer p.mu.Unlock()
	if p.full() {
		return false
	}
	p.push(v)
	return true
}

// SubmitContext is like Submit but returns ctx.Err() when ctx ends before there is room, and
// ErrClosed when the pool is closed. If it returns an error, v was not queued. The handler
// does not get the context.
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
	// Queue v even if ctx has ended meanwhile. This call may have consumed the only wake-up
	// for the free place, which nobody else would then use.
	p.push(v)
	return nil
}

// Wait blocks until all tasks that were submitted before the call are done. Tasks submitted
// while it waits do not prolong it. The pool remains usable. A handler must not call Wait: it
// would wait for itself.
func (p *Pool[T]) Wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := p.claimed + uint64(p.queue.count)
	for p.oldest() < end {
		p.awaited.Store(min(p.awaited.Load(), end))
		if p.oldest() >= end {
			p.announce() // the worker of the last task may not have seen awaited
			return
		}
		p.progress.Wait()
	}
}

// Close stops accepting tasks, lets the workers finish the queue, and returns when the last
// worker has ended. It may be called several times and concurrently: every call returns only
// then. A handler must not call Close: it would wait for itself.
func (p *Pool[T]) Close() {
	p.mu.Lock()
	p.closed, p.credit = true, 0
	p.work.Broadcast()
	p.room.Broadcast()
	p.mu.Unlock()
	p.crew.wait()
}

// step runs tasks as worker w until the pool is closed and no tasks remain. The crew calls
// step again after a task that ended by Goexit. Claiming the next task then counts that one as
// done.
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
			p.reachAwaited()
		}
		p.handle(w.start(place))
	}
}

// refill waits for the next batch of worker w. It returns false when the pool is closed and no
// task is left unstarted.
func (p *Pool[T]) refill(w *worker[T]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announceReached()
	for !p.takeBatch(w) {
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

// takeBatch gives worker w a fair share of the queue, so that tasks remain for the other
// workers. If the queue is empty, w steals half of another worker's unstarted tasks. p.mu is held.
func (p *Pool[T]) takeBatch(w *worker[T]) bool {
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

// reachAwaited is called by a worker that has finished its tasks before awaited.
func (p *Pool[T]) reachAwaited() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announceReached()
}

// announceReached wakes the Waits if all tasks before awaited are done. p.mu is held.
func (p *Pool[T]) announceReached() {
	// The first comparison is cheap and nearly always decides.
	if awaited := p.awaited.Load(); p.claimed >= awaited && p.oldest() >= awaited {
		p.announce()
	}
}

// announce wakes all Waits. Those that must still wait set awaited again.
func (p *Pool[T]) announce() {
	p.awaited.Store(none)
	p.progress.Broadcast()
}

// oldest returns the number of the first task that is not done. A count of done tasks would
// not suffice, because a later task may have overtaken the first. p.mu is held.
func (p *Pool[T]) oldest() uint64 {
	first := p.claimed
	for i := range p.workers {
		first = min(first, p.workers[i].oldest())
	}
	return first
}

// unstarted counts the tasks that no worker has started. p.mu is held.
func (p *Pool[T]) unstarted() int {
	n := p.queue.count
	for i := range p.workers {
		n += p.workers[i].unstarted()
	}
	return n
}

// lock locks the mutex for a producer. If another producer holds it, lock spins for a few
// microseconds before it tries again. Meanwhile the holder submits a hundred values. Taking
// turns would move the queue between the processors' caches with each value. Sleeping at once,
// as the mutex does, costs more than spinning.
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

// push queues v. The caller has made sure that there is credit. p.mu is held.
func (p *Pool[T]) push(v T) {
	p.credit--
	p.queue.push(v)
	p.wakeWorker()
}

// wakeWorker wakes one worker, unless a woken worker does not run yet. Once that one has taken
// its batch, it wakes the next while tasks remain. p.mu is held.
func (p *Pool[T]) wakeWorker() {
	if p.parked > 0 && !p.waking {
		p.waking = true
		p.work.Signal()
	}
}

// full reports whether the queue has no free place. It counts the free places when the credit
// is used up, but not while producers wait: admit lets those in once half of the queue is
// free. Giving single places to newcomers before that would lock the waiting producers out for
// ever. p.mu is held.
func (p *Pool[T]) full() bool {
	if p.credit == 0 && p.waiting == 0 && !p.closed {
		p.credit = len(p.queue.places) - p.unstarted()
	}
	return p.credit == 0
}

// admit wakes producers when half of the places are free. Waking one for each free place would
// switch goroutines once per task. p.mu is held.
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

// awaitRoom returns when a place is free. It panics, naming the given method, if the pool is
// closed. p.mu is held.
func (p *Pool[T]) awaitRoom(method string) {
	for p.full() && !p.closed {
		p.awaitChange()
	}
	if p.closed {
		panic("pool: " + method + " on a closed pool")
	}
}

// awaitChange blocks a producer until it is woken. p.mu is held.
func (p *Pool[T]) awaitChange() {
	p.waiting++
	p.room.Wait()
	p.waiting--
}

// wakeProducers makes waiting producers check their contexts again.
func (p *Pool[T]) wakeProducers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.room.Broadcast()
}
