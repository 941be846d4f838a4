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
// The package must not swallow panics, log, retry, measure time or decide
// what runs first, and imports the standard library only.
package pool

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
)

// ErrClosed is the error of a submission to a pool that was closed.
var ErrClosed = errors.New("pool: closed")

// queueDefault is the number of places without the option [Queue].
const queueDefault = 1024

// none stands for "no task" where a task's number is expected.
const none = math.MaxUint64

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
// A trivial task costs about 45 ns with [Pool.Submit] and about 25 ns with
// [Pool.SubmitN] in batches of 64 (2 workers, one producer, a machine with 2
// cores); nothing is allocated per task.
type Pool[T any] struct {
	handle func(T)
	crew   crew

	mu       sync.Mutex
	work     sync.Cond // workers wait: a task was queued, or the pool was closed
	room     sync.Cond // producers wait: a place got free, the pool was closed, a context ended
	progress sync.Cond // Wait waits: every task before awaited is done

	queue   ring[T]
	closed  bool
	claimed uint64   // tasks ever taken from the queue; the next one gets this number
	done    uint64   // tasks whose handler has returned
	running []uint64 // per worker, the number of its task, or none
	awaited uint64   // the lowest number that a Wait waits for, or none
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
	s := settings{queueMax: queueDefault}
	for _, set := range options {
		set(&s)
	}
	p := &Pool[T]{
		handle:  handler,
		queue:   ring[T]{places: make([]T, s.queueMax)},
		running: slices.Repeat([]uint64{none}, workers),
		awaited: none,
	}
	p.work.L, p.room.L, p.progress.L = &p.mu, &p.mu, &p.mu
	for w := range workers {
		p.crew.add(func() bool { return p.step(w) })
	}
	return p
}

// Submit queues v. It blocks while the queue is full, and may stay blocked
// until half of the queue is free.
//
// Submit panics if the pool is closed, also when that happens while it blocks:
// whoever closes the pool must know that nobody submits any more.
//
// A handler that calls Submit may deadlock: when the queue is full and all
// workers are in Submit, nobody is left to make room. It calls TrySubmit, and
// where that returns false does the work itself.
func (p *Pool[T]) Submit(v T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaitRoom("Submit")
	p.push(v)
}

// SubmitN queues all of vs, in order but not necessarily side by side, for
// fewer locks and wake-ups than as many calls of Submit. It may block and panic
// as Submit does; the values that were queued until then are handled. vs is
// copied, and may be longer than the queue.
func (p *Pool[T]) SubmitN(vs []T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(vs) > 0 {
		p.awaitRoom("SubmitN")
		n := min(len(vs), p.queue.free())
		for _, v := range vs[:n] {
			p.push(v)
		}
		vs = vs[n:]
	}
}

// TrySubmit queues v if that is possible without waiting, and reports whether
// it was: it is not when the queue is full or the pool is closed.
func (p *Pool[T]) TrySubmit(v T) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.queue.free() == 0 {
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && p.queue.free() == 0 {
		stop := context.AfterFunc(ctx, p.wakeProducers)
		defer stop()
	}
	for !p.closed && p.queue.free() == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.room.Wait()
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
		p.awaited = min(p.awaited, end)
		p.progress.Wait()
	}
}

// Close stops accepting tasks, lets the workers do those in the queue, and
// returns when the last worker has ended. It may be called again, and at the
// same time: every call returns only then. A handler must not call Close: it
// would wait for itself.
func (p *Pool[T]) Close() {
	p.mu.Lock()
	p.closed = true
	p.work.Broadcast()
	p.room.Broadcast()
	p.mu.Unlock()
	p.crew.wait()
}

// step runs one task as worker w, and reports whether there was one.
func (p *Pool[T]) step(w int) bool {
	v, ok := p.next(w)
	if ok {
		p.handle(v)
	}
	return ok
}

// next settles the task that worker w did last and waits for its next one.
// There is none when the pool is closed and the queue is empty.
//
// Settling here and not behind the handler saves a lock per task, and counts a
// task that ended by Goexit, whose worker comes here anew.
func (p *Pool[T]) next(w int) (v T, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle(w)
	for p.queue.count == 0 {
		if p.closed {
			return v, false
		}
		p.work.Wait()
	}
	p.running[w] = p.claimed
	p.claimed++
	v = p.queue.pop()
	p.room.Signal()
	return v, true
}

// settle counts the task of worker w as done, if it had one. p.mu is held.
func (p *Pool[T]) settle(w int) {
	if p.running[w] == none {
		return
	}
	p.running[w] = none
	p.done++
	// The comparison with done is cheap and nearly always settles it.
	if p.done >= p.awaited && p.oldest() >= p.awaited {
		p.awaited = none // whoever still has to wait says so again
		p.progress.Broadcast()
	}
}

// oldest returns the number of the first task that is not done; all before it
// are. The count of tasks done would not tell: a later one may have overtaken
// it. p.mu is held.
func (p *Pool[T]) oldest() uint64 {
	first := p.claimed
	for _, number := range p.running {
		first = min(first, number)
	}
	return first
}

// push queues v and wakes one worker for it. There is room and p.mu is held.
func (p *Pool[T]) push(v T) {
	p.queue.push(v)
	p.work.Signal()
}

// awaitRoom returns when the queue has a free place. It panics, in the name of
// the given method, if the pool is closed. p.mu is held.
func (p *Pool[T]) awaitRoom(method string) {
	for !p.closed && p.queue.free() == 0 {
		p.room.Wait()
	}
	if p.closed {
		panic("pool: " + method + " on a closed pool")
	}
}

// wakeProducers makes them look at their contexts again.
func (p *Pool[T]) wakeProducers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.room.Broadcast()
}
