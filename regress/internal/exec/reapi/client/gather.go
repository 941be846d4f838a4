package client

import "sync"

// gather makes few requests of what many goroutines ask for one by one. What comes while
// nothing is under way is sent at once; what comes while as many requests as may be are
// in flight waits, and goes together with the next. Nobody waits for company.
type gather[T any] struct {
	send        func([]T)     // one request; it answers each of them
	cost        func(T) int64 // bytes in a message
	room        int64         // bytes of one request; what costs more goes alone
	inFlightMax int           // requests
	working     *sync.WaitGroup

	mu       sync.Mutex
	queue    []T
	inFlight int
}

func (g *gather[T]) add(items ...T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = append(g.queue, items...)
	g.begin()
}

func (g *gather[T]) begin() {
	if len(g.queue) > 0 && g.inFlight < g.inFlightMax {
		g.inFlight++
		g.working.Go(g.work)
	}
}

func (g *gather[T]) work() {
	for batch := g.take(); batch != nil; batch = g.take() {
		g.send(batch)
	}
}

// take returns what fits into the next request; nil ends work.
func (g *gather[T]) take() []T {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.queue = nil
		g.inFlight--
		return nil
	}
	n, sum := 0, int64(0)
	for n < len(g.queue) && (n == 0 || sum+g.cost(g.queue[n]) <= g.room) {
		sum += g.cost(g.queue[n])
		n++
	}
	batch := g.queue[:n:n]
	g.queue = g.queue[n:]
	g.begin()
	return batch
}
