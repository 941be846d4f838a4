package reapi

import (
	"context"
	"sync"
)

// backlog counts the cases that are uploaded and wait for execution. At its limit it holds
// further cases back, and then releases several at once. So their requests go together, and a
// slow engine gets few of them.
type backlog struct {
	limit int

	mu      sync.Mutex
	waiting int
	drained chan struct{} // closed when at most limit cases wait; nil if nobody is held back
}

// wait returns when another case may be uploaded, or the error of ctx.
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

// full returns a channel to wait for, or nil.
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

// add changes the number of waiting cases by n.
func (b *backlog) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting += n; b.waiting <= b.limit && b.drained != nil {
		close(b.drained)
		b.drained = nil
	}
}
