package client

import (
	"context"
	"sync"
)

// latch waits for a number of answers, and keeps the first error.
type latch struct {
	mu   sync.Mutex
	left int
	err  error
	done chan struct{}
}

func newLatch(n int) *latch {
	l := &latch{left: n, done: make(chan struct{})}
	if n == 0 {
		close(l.done)
	}
	return l
}

func (l *latch) countDown(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	if l.left--; l.left == 0 {
		close(l.done)
	}
}

func (l *latch) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.done:
		return l.err
	}
}
