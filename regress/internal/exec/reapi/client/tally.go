package client

import (
	"context"
	"sync"
)

// tally waits for a number of answers, and has the first error among them.
type tally struct {
	mu   sync.Mutex
	left int
	err  error
	done chan struct{}
}

func newTally(n int) *tally {
	t := &tally{left: n, done: make(chan struct{})}
	if n == 0 {
		close(t.done)
	}
	return t
}

func (t *tally) one(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
	if t.left--; t.left == 0 {
		close(t.done)
	}
}

func (t *tally) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.done:
		return t.err
	}
}
