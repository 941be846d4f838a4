package regress

import (
	"sync"
	"time"
)

// queue hands out the tasks of a pass, in order, to lanes that ask for several at
// once and may bring some back.
type queue struct {
	avoid func(task) int
	lanes int

	mu      sync.Mutex
	changed *sync.Cond
	tasks   []task // to be handed out
	again   []task // so are these, first
	several int    // hands of more than one task that are out
}

func newQueue(tasks []task, lanes int, avoid func(task) int) *queue {
	q := &queue{tasks: tasks, lanes: lanes, avoid: avoid}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// next returns up to most tasks that avoid the same lane, and fewer towards the end:
// what is left is to keep every lane busy. It returns none when all are done, and
// waits while some may come back.
func (q *queue) next(most int) []task {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.tasks)+len(q.again) == 0 && q.several > 0 {
		q.changed.Wait()
	}
	from := &q.tasks
	if len(q.again) > 0 {
		from = &q.again
	}
	most = min(most, max(1, len(q.tasks)/(2*q.lanes)), len(*from))
	n := 0
	for n < most && q.avoid((*from)[n]) == q.avoid((*from)[0]) {
		n++
	}
	hand := (*from)[:n:n]
	*from = (*from)[n:]
	if n > 1 {
		q.several++
	}
	return hand
}

// back takes a hand back of which the first are done.
func (q *queue) back(hand []task, done int) {
	if len(hand) < 2 && done == len(hand) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.again = append(q.again, hand[done:]...)
	if len(hand) > 1 {
		q.several--
	}
	q.changed.Broadcast()
}

const (
	// handTime is how long the tasks that a lane gets at once should take together.
	// It is long beside what asking and waking cost, some 25 µs, and short for people.
	handTime = 16 * time.Millisecond

	// handMax is the most tasks at once.
	handMax = 8
)

// pace is how long a lane's cases took, the last ones most.
type pace time.Duration

func newPace() *pace {
	p := pace(handTime)
	return &p
}

func (p *pace) note(wall time.Duration) { *p += (pace(wall) - *p) / 4 }

// fits is how many more such cases fit into handTime.
func (p *pace) fits() int { return max(1, min(handMax, int(handTime/time.Duration(max(*p, 1))))) }
