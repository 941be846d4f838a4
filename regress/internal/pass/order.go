package pass

import (
	"maps"
	"slices"
)

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
