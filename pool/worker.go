package pool

import "sync/atomic"

// batchMax is how many tasks a worker takes from the queue at a time, at most. With
// more a refill would be no cheaper: it is a fiftieth of the tasks by then.
const batchMax = 64

// none stands for "no task" where a task's number is expected.
const none = 1<<64 - 1

// A worker is one goroutine's share of the tasks: a batch of consecutive ones, of
// which it starts one after another, and others may take what it has not started.
//
// Batches are filled with the pool's mutex held, and thieves hold it too. Claims are made
// without, see hand, and so is a place emptied that is claimed: thieves keep off those.
type worker[T any] struct {
	_ line

	// hand says which of the batch are claimed. The low half is how many its worker
	// has started, and 1 more when it found no other; the high half, how many it has
	// been given, less those that thieves took from the end. One atomic addition claims
	// a task, and says at the same time that the one before is done.
	hand atomic.Uint64

	_ line

	batch []T    // places, for a fair share of a full queue or batchMax
	first uint64 // the number of the batch's first task
}

// line keeps what is written by several apart: two of a processor's cache lines,
// because they are fetched in pairs.
type line [128]byte

const handLow = 1<<32 - 1

// claim starts the worker's next task, if there is one, and returns its place.
func (w *worker[T]) claim() (place int, ok bool) {
	h := w.hand.Add(1)
	started, given := h&handLow, h>>32
	return int(started) - 1, started <= given
}

// unstarted is how many tasks of the batch are not claimed.
func (w *worker[T]) unstarted() int {
	h := w.hand.Load()
	return max(0, int(h>>32)-int(h&handLow))
}

// give makes a worker's places 0 to n its batch, of which it starts the first. The
// pool's mutex is held.
func (w *worker[T]) give(n int, first uint64) {
	w.first = first
	w.hand.Store(uint64(n)<<32 | 1)
}

// start takes the value out of a place that is claimed.
func (w *worker[T]) start(place int) T {
	var nothing T
	v := w.batch[place]
	w.batch[place] = nothing // or the batch would keep alive what it points to
	return v
}

// steal takes half of what the other has not started, and reports whether there
// was any. The pool's mutex is held, so that nobody writes the other's batch.
func (w *worker[T]) steal(from *worker[T]) bool {
	for {
		h := from.hand.Load()
		started, given := h&handLow, h>>32
		if started >= given {
			return false
		}
		left := given - (given-started+1)/2
		if !from.hand.CompareAndSwap(h, left<<32|started) {
			continue // it claimed one meanwhile
		}
		n := copy(w.batch, from.batch[left:given])
		clear(from.batch[left:given])
		w.give(n, from.first+left)
		return true
	}
}

// oldest is the number of the first task of the batch that is not done; none
// when all are. The pool's mutex is held.
func (w *worker[T]) oldest() uint64 {
	h := w.hand.Load()
	started, given := h&handLow, h>>32
	if started > given {
		return none
	}
	return w.first + started - 1
}
