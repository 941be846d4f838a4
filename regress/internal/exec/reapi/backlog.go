package reapi

import (
	"context"
	"sync"
)

// backlog counts the cases that are uploaded and wait to be executed. While they are more than
// its limit it holds others back, and then lets several go at once: so their requests go
// together, and an engine that takes its time costs few.
type backlog struct {
	limit int

	mu      sync.Mutex
	waiting int
	drained chan struct{} // closed when no longer more than limit wait; nil when nobody is held back
}

// wait returns when another case may be uploaded, or with ctx's error.
func (b *backlog) wait(ctx context.Context) error {
	for {
		drained := b.full()
		if drained == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-drained:
		}
	}
}

// full returns what to wait for; nil is nothing.
func (b *backlog) full() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting <= b.limit {
		return nil
	}
	if b.drained == nil {
		b.drained = make(chan struct{})
	}
	return b.drained
}

// add counts n more cases that wait, or fewer.
func (b *backlog) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting += n; b.waiting <= b.limit && b.drained != nil {
		close(b.drained)
		b.drained = nil
	}
}
