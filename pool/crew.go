package pool

import (
	"errors"
	"sync"
)

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
