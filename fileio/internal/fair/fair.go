// Package fair divides scarce units among clients: memory, and places at the engine. Clients
// that wait get one unit each, in turns. A client may take more only while it leaves as many
// for others as it then holds. The package must not know what the units are.
package fair

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrBusy is the error of a request that waited too long, or may not wait because too many
// others wait.
var ErrBusy = errors.New("too busy: try again later")

// A Client identifies the sender of a request. Each token has a share, which is divided among
// its addresses. The empty token is not limited as a whole: all clients that need no token
// have it.
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

// A Budget has the units that clients take and give back. Any number of goroutines may call its
// methods.
type Budget struct {
	options Options

	mu     sync.Mutex
	free   int64
	tokens line[token]
	stats  Stats
}

// A token has the share that its clients hold together.
type token struct {
	share
	addresses line[address]
}

// An address is one client, with its waiting requests in their order.
type address struct {
	share
	requests []*request
}

// A share counts the units and the waiting requests of a token or an address.
type share struct{ held, waiting int64 }

type request struct {
	client Client
	ready  chan struct{} // closed when it has its unit
	has    bool
}

// New returns a budget whose units are all free.
func New(o Options) *Budget { return &Budget{options: o, free: o.Size} }

// Take takes one unit. It waits until one is free and it is the client's turn. It returns the
// context's error if the context ends, and ErrBusy after Options.WaitMax. It returns ErrBusy
// at once if too many requests wait: a token or an address may add one only while fewer of its
// own wait than places are free.
func (b *Budget) Take(ctx context.Context, c Client) error {
	return b.take(ctx, c, b.options.WaitingMax, b.options.WaitMax)
}

// TakeLate is Take for a step of something that has begun. It never returns ErrBusy.
func (b *Budget) TakeLate(ctx context.Context, c Client) error { return b.take(ctx, c, 0, 0) }

func (b *Budget) take(ctx context.Context, c Client, waitingMax int, waitMax time.Duration) error {
	if b.options.Size == 0 {
		return nil
	}
	b.mu.Lock()
	if b.free > 0 { // nobody waits while a unit is free
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
	if r.has { // the unit may have come at the same time
		b.stats.Wait += time.Since(began)
		return nil
	}
	b.leave(r)
	if reason == ErrBusy {
		b.stats.Refused++
	}
	return reason
}

// Try takes n more units if at least as many stay free as the client's address then holds, and
// as its token then holds. It does not wait.
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

// Stats returns the current figures.
func (b *Budget) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats
}

// of returns the entries of a client's token and address. It adds those that are missing.
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

// mayWait reports whether a client may add a waiting request when that many places are
// free.
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

// leave removes a waiting request. Its client goes behind the others.
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
