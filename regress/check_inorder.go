package regress

import (
	"maps"
	"slices"
)

// inOrder calls a function for each task, in the order of the corpus. So the output of a
// check does not depend on which lane was faster. Until the tasks are known, inOrder only
// collects.
type inOrder struct {
	tasks []task // still to come, in order; nil = not known yet
	ready map[int]func()
}

// readyMax bounds how many tasks wait for one slow case. Beyond it the order is
// given up.
const readyMax = 1000

func (o *inOrder) add(t task, do func()) {
	o.ready[t.index] = do
	if len(o.ready) > readyMax {
		o.flush()
		return
	}
	o.drain()
}

// expect sets all tasks, including those that are ready already.
func (o *inOrder) expect(tasks []task) {
	o.tasks = tasks
	o.drain()
}

// drain finishes the ready tasks up to the first one that is not ready.
func (o *inOrder) drain() {
	for len(o.tasks) > 0 {
		next := o.tasks[0].index
		do, ok := o.ready[next]
		if !ok {
			return
		}
		delete(o.ready, next)
		o.tasks = o.tasks[1:]
		do()
	}
}

// flush finishes all ready tasks.
func (o *inOrder) flush() {
	for _, index := range slices.Sorted(maps.Keys(o.ready)) {
		o.ready[index]()
		delete(o.ready, index)
	}
}
