package regress

import (
	"maps"
	"slices"
)

// inOrder does things for tasks in the order of the corpus, whichever is ready first: what
// a check prints should not depend on which lane was faster. Until the tasks are known it
// only collects.
type inOrder struct {
	tasks []task // still to come, in their order; nil = not known yet
	ready map[int]func()
}

// readyMax bounds how much waits for one slow case; beyond it the order is
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

// expect says which tasks there are in all, those included that are ready.
func (o *inOrder) expect(tasks []task) {
	o.tasks = tasks
	o.drain()
}

// drain does what is ready up to the first task that is not.
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

// flush does all that is ready.
func (o *inOrder) flush() {
	for _, index := range slices.Sorted(maps.Keys(o.ready)) {
		o.ready[index]()
		delete(o.ready, index)
	}
}
