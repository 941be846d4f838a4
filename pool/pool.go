// Package pool runs many tasks on a fixed, small number of goroutines. It bounds how many
// tasks run and how many wait. Submitters wait when both bounds are reached.
//
//   - [Pool] runs one function over values that come one by one.
//   - [ForEach] runs a function over a slice and stops at the first error.
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
// Tasks that are not yet submitted count too. Beyond that, tasks may deadlock, because quick
// tasks start roughly, but not exactly, in the order of submission.
//
// A trivial task costs about 19 ns with [Pool.Submit], also when many goroutines submit, and
// about 10 ns with [Pool.SubmitN] in batches of 64 (2 workers, GOMAXPROCS 2, a machine with 2
// cores). A task allocates nothing, unless its producer waits. An idle pool uses no processor time.
type Pool[T any] struct {
	handle  func(T)
	crew    crew
	workers []worker[T]

	// awaited is the lowest task number that a Wait waits for, or none. Workers read it for
	// every task, so it is kept apart from fields that change often.
	awaited atomic.Uint64
	_       cacheLine

	mu       sync.Mutex
	progress sync.Cond // Wait waits: all tasks before awaited are done

	queue   ring[T]
	late    line[T]    // values of producers that wait; while it has any, the queue is full
	idle    *worker[T] // the worker that parked last; below it are the others
	waking  bool       // a parked worker was woken and does not run yet
	shared  bool       // a batch may have tasks that are not started
	turn    int        // the worker whose batch is looked at next for tasks left behind
	closed  bool
	claimed uint64 // tasks ever taken from the queue: the number of the next task

	spare sync.Pool // of chan bool: those that producers waited for
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
	s := settings{queueMax: queueDefault}
	for _, set := range options {
		set(&s)
	}
	p := &Pool[T]{
		handle:  handler,
		queue:   ring[T]{places: make([]T, s.queueMax)},
		workers: make([]worker[T], workers),
	}
	p.awaited.Store(none)
	p.progress.L = &p.mu
	places := min(batchMax, (s.queueMax-1)/workers+1) // per batch, as takeBatch fills it
	batches := make([]T, workers*places)
	for i := range p.workers {
		w := &p.workers[i]
		w.hand.Store(1) // an empty batch, all of it done
		w.most = 1
		w.woken = make(chan struct{}, 1)
		w.batch, batches = batches[:places:places], batches[places:]
		p.crew.add(func() bool { return p.step(w) })
	}
	return p
}

// Submit queues v. It blocks while the queue is full. Producers that wait get places in the order
// in which they came, whenever a worker takes tasks from the queue.
//
// Submit panics if the pool is closed, also while Submit blocks. Close the pool only when
// nobody submits any more.
//
// A handler that calls Submit may deadlock: when the queue is full and all workers are in
// Submit, no worker makes room. Call TrySubmit in a handler, and do the work there if
// TrySubmit returns false.
func (p *Pool[T]) Submit(v T) {
	p.lock()
	if !p.full() {
		p.push(v)
		return
	}
	p.await(v, "Submit")
}

// SubmitN queues all of vs, in order but not necessarily side by side. It needs fewer locks
// and wake-ups than separate calls of Submit. It may block and panic as Submit does, for each
// value. Values that were queued before a panic are handled. SubmitN copies vs, which may be
// longer than the queue.
func (p *Pool[T]) SubmitN(vs []T) {
	for len(vs) > 0 {
		p.lock()
		if !p.full() {
			vs = p.pushSome(vs)
			continue
		}
		p.await(vs[0], "SubmitN")
		vs = vs[1:]
	}
}

// TrySubmit queues v if it can do so without waiting, and reports whether it did. It returns
// false when the queue is full or the pool is closed.
func (p *Pool[T]) TrySubmit(v T) bool {
	p.lock()
	if p.full() {
		p.mu.Unlock()
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
	if !p.full() {
		p.push(v)
		return nil
	}
	woken, number := p.join(v)
	if woken == nil {
		return ErrClosed
	}
	queued := false
	select {
	case queued = <-woken:
	case <-ctx.Done():
		if p.leave(number) {
			p.spare.Put(woken)
			return ctx.Err()
		}
		queued = <-woken // a worker has queued v meanwhile, or Close has refused it
	}
	p.spare.Put(woken)
	if !queued {
		return ErrClosed
	}
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
	p.closed = true
	refused, idle := p.late, p.idle
	p.late, p.idle = line[T]{}, nil
	p.mu.Unlock()
	for !refused.empty() {
		refused.next().woken <- false
	}
	for w := idle; w != nil; {
		next := w.below
		w.woken <- struct{}{}
		w = next
	}
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
	w.adapt()
	p.lock()
	p.announceReached()
	for !p.takeBatch(w) {
		if p.closed {
			p.mu.Unlock()
			return false
		}
		p.park(w)
	}
	p.admit(w)
	if p.queue.count > 0 || p.shared && p.unstarted() > 0 {
		p.unlockAndWake()
	} else {
		p.mu.Unlock()
	}
	for _, woken := range w.admitted {
		woken <- true
	}
	w.begin()
	return true
}

// park waits until worker w is woken. p.mu is held, but not meanwhile.
func (p *Pool[T]) park(w *worker[T]) {
	w.below, p.idle = p.idle, w
	p.mu.Unlock()
	<-w.woken
	p.lock()
	p.waking = false
}

// takeBatch gives worker w a fair share of the queue, so that tasks remain for the other
// workers. If the queue is empty, or another worker has been busy with one task for long, w
// steals half of another worker's unstarted tasks. p.mu is held.
func (p *Pool[T]) takeBatch(w *worker[T]) bool {
	if p.rescue(w) {
		return true
	}
	if n := min(p.queue.count, p.queue.count/len(p.workers)+1, w.most, len(w.batch)); n > 0 {
		p.queue.popAll(w.batch[:n])
		w.give(n, p.claimed)
		p.claimed += uint64(n)
		p.shared = p.shared || n > 1
		return true
	}
	for i := range p.workers {
		if from := &p.workers[i]; p.shared && from != w && w.steal(from) {
			return true
		}
	}
	p.shared = false
	return false
}

// rescue looks at the batch of one worker after the other, and steals tasks that were left behind:
// more later ones have started than the queue and the batches hold. p.mu is held.
func (p *Pool[T]) rescue(w *worker[T]) bool {
	p.turn++
	if p.turn >= len(p.workers) {
		p.turn = 0
	}
	from := &p.workers[p.turn]
	behind := uint64(batchMax * len(p.workers))
	return p.shared && p.claimed > behind && from.first < p.claimed-behind && from != w && w.steal(from)
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

// lock locks the mutex. If another goroutine holds it, lock looks again every fraction of a
// microsecond, a few times. Meanwhile the holder may submit several values. Taking turns would
// move the queue between the processors' caches with each value. Sleeping at once, as the mutex
// does, costs more than waiting.
func (p *Pool[T]) lock() {
	if !p.mu.TryLock() {
		p.lockBusy()
	}
}

func (p *Pool[T]) lockBusy() {
	const tries = 20
	for range tries {
		_ = spin()
		if p.mu.TryLock() {
			return
		}
	}
	p.mu.Lock()
}

// spin takes about 0.2 µs.
//
//go:noinline
func spin() (turns int) {
	for i := range 600 {
		turns ^= i
	}
	return turns
}

// push queues v, and unlocks p.mu, which is held. The caller has made sure that there is room.
func (p *Pool[T]) push(v T) {
	p.queue.push(v)
	p.unlockAndWake()
}

// unlockAndWake unlocks p.mu and wakes one worker, unless a woken worker does not run yet. Once
// that one has taken its batch, it wakes the next while tasks remain.
func (p *Pool[T]) unlockAndWake() {
	w := p.idle
	if w == nil || p.waking {
		p.mu.Unlock()
		return
	}
	p.waking = true
	p.unlockAndWakeAnother()
}

// unlockAndWakeAnother unlocks p.mu and wakes one idle worker, if there is one.
func (p *Pool[T]) unlockAndWakeAnother() {
	w := p.idle
	if w == nil {
		p.mu.Unlock()
		return
	}
	p.idle = w.below
	p.mu.Unlock()
	w.woken <- struct{}{}
}

// full reports whether a value cannot be queued at once. p.mu is held.
func (p *Pool[T]) full() bool { return p.queue.count == len(p.queue.places) || p.closed }

// pushSome queues as many of vs as there is room for, returns the others, and unlocks p.mu,
// which is held.
func (p *Pool[T]) pushSome(vs []T) []T {
	n := min(len(vs), len(p.queue.places)-p.queue.count)
	p.queue.pushAll(vs[:n])
	p.unlockAndWake()
	return vs[n:]
}

// admit queues late values, in the order in which they came, in the places that the batch of
// worker w left. The worker must then wake their producers. p.mu is held.
func (p *Pool[T]) admit(w *worker[T]) {
	w.admitted = w.admitted[:0]
	for p.queue.count < len(p.queue.places) && !p.late.empty() {
		v := p.late.next()
		p.queue.push(v.value)
		w.admitted = append(w.admitted, v.woken)
	}
}

// await waits until v is queued, and unlocks p.mu, which is held. It panics, naming the given
// method, if the pool is closed.
func (p *Pool[T]) await(v T, method string) {
	if woken, _ := p.join(v); woken != nil {
		queued := <-woken
		p.spare.Put(woken)
		if queued {
			return
		}
	}
	panic("pool: " + method + " on a closed pool")
}

// join puts v at the end of the line, and unlocks p.mu, which is held. The pool sends true to
// woken when v is queued, and false when the pool is closed before. If it already is closed,
// woken is nil.
//
// It wakes an idle worker although another may be on its way: among thousands of producers that
// one may not run for a while.
func (p *Pool[T]) join(v T) (woken chan bool, number uint64) {
	if p.closed {
		p.mu.Unlock()
		return nil, 0
	}
	woken, ok := p.spare.Get().(chan bool)
	if !ok {
		woken = make(chan bool, 1)
	}
	number = p.late.add(v, woken)
	p.unlockAndWakeAnother()
	return woken, number
}

// leave takes a late value out of the line, and reports whether it was still there.
func (p *Pool[T]) leave(number uint64) bool {
	p.lock()
	defer p.mu.Unlock()
	return p.late.leave(number)
}
