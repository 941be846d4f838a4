// Package fair divides what is scarce among clients: memory, and places at the disk. Those
// who wait get one unit each in turns, and who takes many leaves as many for others. It must
// not know what the units are.
package fair

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrBusy is the error of a request that waited too long, or may not wait because too many do.
var ErrBusy = errors.New("too much waits already: try again later")

// A Client is who asks. Each token has a share, and within it each address. The empty token
// is not limited as a whole: it is that of all who need none.
type Client struct{ Token, Address string }

// Options of a budget.
type Options struct {
	Size       int64         // units; 0 = any number, and nobody waits
	WaitingMax int           // requests that wait; 0 = any number
	WaitMax    time.Duration // of one request; 0 = as long as it takes
}

// Stats are the figures of one moment.
type Stats struct {
	Held, Waiting int64
	Refused       int64         // since the beginning
	Wait          time.Duration // of all requests that had to wait and got their unit
}

// A Budget is units that clients take and give back. Any number of goroutines may call its
// methods.
type Budget struct {
	options Options

	mu     sync.Mutex
	free   int64
	tokens line[token]
	stats  Stats
}

// A token is what the clients that bring it have together.
type token struct {
	share
	addresses line[address]
}

// An address is one client, and its requests that wait, in their order.
type address struct {
	share
	requests []*request
}

// share is what a token or an address has.
type share struct{ held, waiting int64 }

type request struct {
	client Client
	ready  chan struct{} // closed when it has its unit
	has    bool
}

// New returns a budget of which nobody holds anything.
func New(o Options) *Budget { return &Budget{options: o, free: o.Size} }

// Take takes one unit. It waits until one is free and it is the client's turn. It returns
// the context's error if that ends, and ErrBusy after Options.WaitMax, or at once if too many
// wait: a token or an address may have as many requests there as it leaves places.
func (b *Budget) Take(ctx context.Context, c Client) error {
	return b.take(ctx, c, b.options.WaitingMax, b.options.WaitMax)
}

// TakeLate takes one unit like Take, for what has begun and cannot be put off: it is never
// refused.
func (b *Budget) TakeLate(ctx context.Context, c Client) error { return b.take(ctx, c, 0, 0) }

func (b *Budget) take(ctx context.Context, c Client, waitingMax int, waitMax time.Duration) error {
	if b.options.Size == 0 {
		return nil
	}
	b.mu.Lock()
	if b.free > 0 { // then nobody waits
		b.hold(c, 1)
		b.mu.Unlock()
		return nil
	}
	if waitingMax > 0 && !b.mayWait(c, int64(waitingMax)-b.stats.Waiting) {
		b.stats.Refused++
		b.mu.Unlock()
		return ErrBusy
	}
	r := &request{client: c, ready: make(chan struct{})}
	b.join(r)
	b.mu.Unlock()
	return b.await(ctx, r, waitMax)
}

func (b *Budget) await(ctx context.Context, r *request, most time.Duration) error {
	began := time.Now()
	var late <-chan time.Time
	if most > 0 {
		timer := time.NewTimer(most)
		defer timer.Stop()
		late = timer.C
	}
	var reason error
	select {
	case <-r.ready:
	case <-ctx.Done():
		reason = ctx.Err()
	case <-late:
		reason = ErrBusy
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.has { // it may have come at the same time
		b.stats.Wait += time.Since(began)
		return nil
	}
	b.leave(r)
	if reason == ErrBusy {
		b.stats.Refused++
	}
	return reason
}

// Try takes n more units if that leaves as many for others as the client's token and its
// address then have, each. It does not wait.
func (b *Budget) Try(c Client, n int64) bool {
	if b.options.Size == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t, a := b.of(c)
	if a.held+n > b.free-n || c.Token != "" && t.held+n > b.free-n {
		b.forget(c)
		return false
	}
	b.hold(c, n)
	return true
}

// Give gives n units back.
func (b *Budget) Give(c Client, n int64) {
	if b.options.Size == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold(c, -n)
	b.forget(c)
	for b.free > 0 && b.stats.Waiting > 0 {
		r := b.tokens.first().addresses.first().requests[0]
		b.leave(r)
		b.hold(r.client, 1)
		r.has = true
		close(r.ready)
	}
}

// Stats returns the figures of now.
func (b *Budget) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats
}

// of returns what a client's token and address have, new ones if they have nothing.
func (b *Budget) of(c Client) (*token, *address) {
	t := b.tokens.member(c.Token)
	return t, t.addresses.member(c.Address)
}

// forget drops a client that neither holds nor waits for anything.
func (b *Budget) forget(c Client) {
	t, a := b.of(c)
	if a.share == (share{}) {
		t.addresses.drop(c.Address)
	}
	if t.share == (share{}) {
		b.tokens.drop(c.Token)
	}
}

func (b *Budget) hold(c Client, n int64) {
	t, a := b.of(c)
	t.held, a.held = t.held+n, a.held+n
	b.free -= n
	b.stats.Held += n
}

// mayWait reports whether a client's request may wait where so many places are left.
func (b *Budget) mayWait(c Client, places int64) bool {
	t, a := b.of(c)
	defer b.forget(c)
	return a.waiting < places && (c.Token == "" || t.waiting < places)
}

func (b *Budget) join(r *request) {
	t, a := b.of(r.client)
	a.requests = append(a.requests, r)
	b.wait(r.client, 1)
	t.addresses.queue(r.client.Address)
	b.tokens.queue(r.client.Token)
}

// leave takes a request out of those that wait. Its client goes behind the others.
func (b *Budget) leave(r *request) {
	t, a := b.of(r.client)
	for i := range a.requests {
		if a.requests[i] == r {
			a.requests = append(a.requests[:i], a.requests[i+1:]...)
			break
		}
	}
	b.wait(r.client, -1)
	t.addresses.requeue(r.client.Address, a.waiting > 0)
	b.tokens.requeue(r.client.Token, t.waiting > 0)
	b.forget(r.client)
}

func (b *Budget) wait(c Client, n int64) {
	t, a := b.of(c)
	t.waiting, a.waiting = t.waiting+n, a.waiting+n
	b.stats.Waiting += n
}
