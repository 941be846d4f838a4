package pass

import (
	"maps"
	"slices"
	"sync"
)

// A queue hands out the tasks of a pass. Lanes ask for several tasks at once and may return some.
// Among tasks that avoid the same lane, it keeps the order.
type queue struct {
	lanes int

	mu      sync.Mutex
	changed *sync.Cond
	apart   []*sameLane // by the lane to avoid
	left    int         // tasks in apart
	several int         // hands of more than one task that are out
}

// next returns up to most tasks. Towards the end it returns fewer, so that the rest keeps every
// lane busy. It waits while tasks may be returned. When all are done it returns none.
func (q *queue) next(most int) hand {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.left == 0 && q.several > 0 {
		q.changed.Wait()
	}
	if q.left == 0 {
		return hand{}
	}
	l := q.choose()
	from := &l.tasks
	if len(l.again) > 0 {
		from = &l.again
	}
	n := min(most, max(1, q.left/(2*q.lanes)), len(*from))
	h := hand{tasks: (*from)[:n:n], avoid: l.avoid, from: l}
	*from = (*from)[n:]
	q.left -= n
	l.out++
	if n > 1 {
		q.several++
	}
	return h
}

// first returns the index of the next task, or -1 if no task is left.
func (q *queue) first() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch l := q.choose(); {
	case l == nil:
		return -1
	case len(l.again) > 0:
		return l.again[0].Index
	default:
		return l.tasks[0].Index
	}
}

// choose returns the tasks with the fewest hands out. With two lanes, tasks that avoid the same
// lane would wait for each other.
func (q *queue) choose() (best *sameLane) {
	for _, l := range q.apart {
		if len(l.tasks)+len(l.again) > 0 && (best == nil || l.out < best.out) {
			best = l
		}
	}
	return best
}

// giveBack takes back a hand. Its first tasks are done, as many as done counts.
func (q *queue) giveBack(h hand, done int) {
	if h.from == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	h.from.out--
	h.from.again = append(h.from.again, h.tasks[done:]...)
	q.left += len(h.tasks) - done
	if len(h.tasks) > 1 {
		q.several--
		q.changed.Broadcast()
	}
}

// sameLane is the tasks that avoid the same lane.
type sameLane struct {
	avoid int
	tasks []Task // to be handed out
	again []Task // returned tasks, which are handed out first
	out   int    // number of their hands that are out
}

// hand is some tasks for one lane.
type hand struct {
	tasks []Task
	avoid int
	from  *sameLane
}

func newQueue(tasks []Task, lanes int, avoid func(Task) int) *queue {
	q := &queue{lanes: lanes, left: len(tasks)}
	q.changed = sync.NewCond(&q.mu)
	byLane := map[int]*sameLane{}
	for i, t := range tasks {
		a := avoid(t)
		l := byLane[a]
		if l == nil {
			l = &sameLane{avoid: a}
			byLane[a], q.apart = l, append(q.apart, l)
		}
		if len(q.apart) == 1 {
			l.tasks = tasks[: i+1 : i+1] // most often all avoid the same lane
		} else {
			l.tasks = append(l.tasks, t)
		}
	}
	return q
}

// An InOrder calls a function for each task, in the order of the corpus. So the output of a check
// does not depend on which lane was faster. Until it knows the tasks, it only collects.
type InOrder struct {
	tasks []Task // remaining tasks, in order; nil = not known yet
	ready map[int]func()
}

// NewInOrder returns an InOrder without tasks.
func NewInOrder() InOrder { return InOrder{ready: map[int]func(){}} }

// Has reports whether a task was added and its function was not called yet.
func (o *InOrder) Has(t Task) bool { return o.ready[t.Index] != nil }

// Expects reports whether some expected task was not added yet.
func (o *InOrder) Expects() bool { return len(o.tasks) > 0 }

// Add calls do as soon as all expected tasks before t were added.
func (o *InOrder) Add(t Task, do func()) {
	o.ready[t.Index] = do
	if len(o.ready) > readyMax {
		o.Flush()
		return
	}
	o.drain()
}

// Expect sets all tasks, including those that are already added.
func (o *InOrder) Expect(tasks []Task) {
	o.tasks = tasks
	o.drain()
}

// drain finishes the ready tasks up to the first one that is not ready.
func (o *InOrder) drain() {
	for len(o.tasks) > 0 {
		next := o.tasks[0].Index
		do, ok := o.ready[next]
		if !ok {
			return
		}
		delete(o.ready, next)
		o.tasks = o.tasks[1:]
		do()
	}
}

// Flush finishes all ready tasks.
func (o *InOrder) Flush() {
	for _, index := range slices.Sorted(maps.Keys(o.ready)) {
		o.ready[index]()
		delete(o.ready, index)
	}
}

// readyMax bounds the tasks that wait for one slow case. Further tasks do not wait for their turn.
const readyMax = 1000
