package client

import (
	"sync"
	"time"
)

// batcher combines what many goroutines request one by one into few requests. An item is sent
// at once if no request is in flight. While the allowed number of requests is in flight, items
// wait and go together with the next one. Otherwise only an item that allows it waits for
// others.
type batcher[T any] struct {
	send        func([]T)     // makes one request, and answers each of the items
	cost        func(T) int64 // bytes of an item in a message
	room        int64         // bytes of one request; a larger item goes alone
	inFlightMax int           // number of requests in flight
	working     *sync.WaitGroup

	mu       sync.Mutex
	queue    []T
	inFlight int
	later    bool // the time limit of the first item that waits for others
}

func (b *batcher[T]) add(items ...T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, items...)
	b.begin()
}

// addWithin is like add for an item that need not go at once.
func (b *batcher[T]) addWithin(wait time.Duration, item T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, item)
	switch {
	case wait <= 0:
		b.begin()
	case !b.later: // even if a request is in flight, because that one may hang
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

// take returns the items of the next request, or nil to end work.
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
