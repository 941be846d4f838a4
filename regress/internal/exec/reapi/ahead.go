package reapi

import (
	"context"
	"sync"
)

// ahead counts the cases that are sent and wait to be executed. While there are enough it
// holds others back, and then lets several go at once: so their requests go together, and an
// engine that takes its time costs few.
type ahead struct {
	enough int

	mu    sync.Mutex
	ready int
	fewer chan struct{} // closed when there are no longer more than enough; nil when nobody waits
}

// pass returns when another case may be made ready, or with ctx's error.
func (a *ahead) pass(ctx context.Context) error {
	for {
		fewer := a.full()
		if fewer == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-fewer:
		}
	}
}

// full returns what to wait for; nil is nothing.
func (a *ahead) full() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ready <= a.enough {
		return nil
	}
	if a.fewer == nil {
		a.fewer = make(chan struct{})
	}
	return a.fewer
}

// add counts n more cases that are ready, or fewer.
func (a *ahead) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ready += n; a.ready <= a.enough && a.fewer != nil {
		close(a.fewer)
		a.fewer = nil
	}
}
