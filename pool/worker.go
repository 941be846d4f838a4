package pool

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// batchMax is the largest number of tasks that a worker takes from the queue at a time. A
// larger batch would not help: at 64, a refill costs a fiftieth of the tasks.
const batchMax = 64

// none stands for "no task" where a task's number is expected.
const none = 1<<64 - 1

// A worker is one goroutine's share of the tasks: a batch of consecutive tasks, which it
// starts one after another. Other workers may steal those that it has not started.
//
// The pool's mutex is held while a batch is filled and while tasks are stolen. It is not held
// while the worker claims a task (see hand) or empties the claimed place. Thieves do not touch
// claimed places.
type worker[T any] struct {
	_ cacheLine

	// hand records which tasks of the batch are claimed. The low half counts those that the
	// worker has started, plus 1 if it found no further one. The high half counts those that
	// it was given, without those stolen from the end. One atomic addition claims a task and
	// marks the previous task as done.
	hand atomic.Uint64

	_ cacheLine

	batch []T       // has places for a fair share of a full queue, at most batchMax
	first uint64    // the number of the batch's first task
	most  int       // how many tasks the worker may take at once, up to batchMax
	began time.Time // when it took the batch; zero if the batch is not measured
	short int       // short batches so far

	admitted []chan bool // of the producers whose values the worker has queued

	woken chan struct{} // gets a token when the parked worker should look for work
	below *worker[T]    // the idle worker that parked before this one
}

// batchTime is how long the tasks of a batch should take at most. It is long compared with
// taking them (about 100 ns), and short for the tasks that wait behind them.
const batchTime = 20 * time.Microsecond

// begin measures the batch that w took. Of batches that are short for want of tasks it measures
// one in eight, because reading the clock takes longer than a quick task.
func (w *worker[T]) begin() {
	w.began = time.Time{}
	if 8*w.given() < w.most {
		if w.short++; w.short%8 != 0 {
			return
		}
	}
	w.began = time.Now()
}

// adapt fits most to the time that the last batch took. The worker may take at most twice as
// many tasks as before.
func (w *worker[T]) adapt() {
	if n := w.given(); n > 0 && !w.began.IsZero() {
		fits := int64(n) * int64(batchTime) / max(1, int64(time.Since(w.began)))
		w.most = max(1, int(min(fits, batchMax, int64(2*max(w.most, n)))))
	}
}

// given counts the tasks of the batch, without those stolen.
func (w *worker[T]) given() int { return int(w.hand.Load() >> 32) }

// cacheLine keeps fields that different processors write apart. It is two cache lines long,
// because processors fetch them in pairs.
type cacheLine [128]byte

const handLow = 1<<32 - 1

// claim starts the worker's next task, if any, and returns its place.
func (w *worker[T]) claim() (place int, ok bool) {
	h := w.hand.Add(1)
	started, given := h&handLow, h>>32
	return int(started) - 1, started <= given
}

// unstarted counts the tasks of the batch that are not claimed.
func (w *worker[T]) unstarted() int {
	h := w.hand.Load()
	return max(0, int(h>>32)-int(h&handLow))
}

// give makes places 0 to n the worker's batch and claims the first task. The pool's mutex is
// held.
func (w *worker[T]) give(n int, first uint64) {
	w.first = first
	w.hand.Store(uint64(n)<<32 | 1)
}

// start takes the value out of a claimed place.
func (w *worker[T]) start(place int) T {
	var nothing T
	v := w.batch[place]
	w.batch[place] = nothing // the batch must not keep its pointers alive
	return v
}

// steal takes half of the tasks that another worker has not started, and reports whether there
// were any. The pool's mutex is held, so that nobody else writes the other worker's batch.
func (w *worker[T]) steal(from *worker[T]) bool {
	for {
		h := from.hand.Load()
		started, given := h&handLow, h>>32
		if started >= given {
			return false
		}
		left := given - (given-started+1)/2
		if !from.hand.CompareAndSwap(h, left<<32|started) {
			continue // the other worker has claimed a task meanwhile
		}
		n := copy(w.batch, from.batch[left:given])
		clear(from.batch[left:given])
		w.give(n, from.first+left)
		return true
	}
}

// oldest returns the number of the batch's first task that is not done, or none if all are
// done. The pool's mutex is held.
func (w *worker[T]) oldest() uint64 {
	h := w.hand.Load()
	started, given := h&handLow, h>>32
	if started > given {
		return none
	}
	return w.first + started - 1
}

// A ring is a queue with a fixed number of places.
type ring[T any] struct {
	places []T
	head   int // the place of the oldest value
	count  int
}

// push adds v. The caller has made sure that there is room.
func (r *ring[T]) push(v T) {
	r.places[r.tail()] = v
	r.count++
}

// pushAll adds vs. The caller has made sure that there is room.
func (r *ring[T]) pushAll(vs []T) {
	n := copy(r.places[r.tail():], vs)
	copy(r.places, vs[n:])
	r.count += len(vs)
}

// popAll fills to with the oldest values. The caller has made sure that the ring has enough.
func (r *ring[T]) popAll(to []T) {
	n := copy(to, r.places[r.head:])
	clear(r.places[r.head : r.head+n]) // the ring must not keep their pointers alive
	m := copy(to[n:], r.places)
	clear(r.places[:m])
	if r.head += len(to); r.head >= len(r.places) {
		r.head -= len(r.places)
	}
	r.count -= len(to)
}

// pop returns the oldest value. The caller has made sure that there is one.
func (r *ring[T]) pop() T {
	var nothing T
	v := r.places[r.head]
	r.places[r.head] = nothing
	if r.head++; r.head == len(r.places) {
		r.head = 0
	}
	r.count--
	return v
}

// at returns the place of the value with index i, counted from the oldest.
func (r *ring[T]) at(i int) *T {
	if i += r.head; i >= len(r.places) {
		i -= len(r.places)
	}
	return &r.places[i]
}

// tail is the place behind the newest value.
func (r *ring[T]) tail() int {
	tail := r.head + r.count
	if tail >= len(r.places) {
		tail -= len(r.places)
	}
	return tail
}

// errGoexit is the outcome of a function that neither returned nor panicked.
var errGoexit = errors.New("pool: the function called runtime.Goexit and returned nothing")

// A crew is a group of goroutines that each call a function of their own, the
// step, until it returns false.
type crew struct {
	members sync.WaitGroup
}

func (c *crew) add(step func() bool) {
	c.members.Add(1)
	go c.run(step)
}

// wait returns when all steps have returned false.
func (c *crew) wait() { c.members.Wait() }

func (c *crew) run(step func() bool) {
	ended := false
	defer func() {
		if ended {
			c.members.Done()
			return
		}
		// Only recover distinguishes a panic from Goexit. The panic continues at once,
		// without members.Done: a main that waits for the crew could otherwise exit with 0
		// before the panic is reported.
		if cause := recover(); cause != nil {
			panic(cause)
		}
		go c.run(step)
	}()
	for step() {
	}
	ended = true
}
