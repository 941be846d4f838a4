package client

import (
	"sync"
	"time"
)

// batcher makes few requests of what many goroutines ask for one by one. What comes while
// nothing is under way is sent at once; what comes while as many requests as may be are
// in flight waits, and goes together with the next. Nobody waits for company but who says
// for how long.
type batcher[T any] struct {
	send        func([]T)     // one request; it answers each of them
	cost        func(T) int64 // bytes in a message
	room        int64         // bytes of one request; what costs more goes alone
	inFlightMax int           // requests
	working     *sync.WaitGroup

	mu       sync.Mutex
	queue    []T
	inFlight int
	later    bool // a request begins when the time of the first that waits for company is over
}

func (b *batcher[T]) add(items ...T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, items...)
	b.begin()
}

// addWithin is add for an item that need not go at once.
func (b *batcher[T]) addWithin(wait time.Duration, item T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, item)
	switch {
	case wait <= 0:
		b.begin()
	case !b.later: // also where a request is under way: that one may hang
		b.later = true
		b.working.Add(1)
		time.AfterFunc(wait, func() {
			defer b.working.Done()
			b.mu.Lock()
			defer b.mu.Unlock()
			b.later = false
			b.begin()
		})
	}
}

func (b *batcher[T]) begin() {
	if len(b.queue) > 0 && b.inFlight < b.inFlightMax {
		b.inFlight++
		b.working.Go(b.work)
	}
}

func (b *batcher[T]) work() {
	for batch := b.take(); batch != nil; batch = b.take() {
		b.send(batch)
	}
}

// take returns what fits into the next request; nil ends work.
func (b *batcher[T]) take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.queue = nil
		b.inFlight--
		return nil
	}
	n, sum := 0, int64(0)
	for n < len(b.queue) && (n == 0 || sum+b.cost(b.queue[n]) <= b.room) {
		sum += b.cost(b.queue[n])
		n++
	}
	batch := b.queue[:n:n]
	b.queue = b.queue[n:]
	b.begin()
	return batch
}
