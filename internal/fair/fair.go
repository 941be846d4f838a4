// Package fair divides scarce units among clients: memory, and places at the engine. Clients
// that wait get one unit each, in turns. A client may take more only while it leaves as many
// for others as it then holds. The package must not know what the units are.
package fair

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// ErrBusy is the error of a request that waited too long, or may not wait because too many
// others wait.
var ErrBusy = errors.New("too busy: try again later")

// Options of a budget.
type Options struct {
	Size       int64         // units; 0 = any number, and nobody waits
	WaitingMax int           // requests that wait in Take; 0 = any number
	WaitMax    time.Duration // of one request in Take; 0 = as long as it takes

	// Shares is for units that clients hold as long as they like. A client that has a unit
	// gets another one only if that leaves as many free as it then holds. So one address has
	// half of the units at most, and the next one a quarter. The same holds for tokens, and
	// an address also leaves its token as much as it holds.
	Shares bool
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
	early  int64 // requests that wait in Take
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
	requests list.List // of *request
}

// A share counts the units of a token or an address, and its requests that wait in Take.
type share struct{ held, early int64 }

type request struct {
	client Client
	late   bool
	at     *list.Element
	ready  chan struct{} // closed when it has its unit
	has    bool
}

// New returns a budget whose units are all free.
func New(o Options) *Budget { return &Budget{options: o, free: o.Size} }

// Take takes one unit. It waits until one is free for the client and it is the client's turn.
// It returns the context's error if the context ends, and ErrBusy after Options.WaitMax. It
// returns ErrBusy at once if too many requests wait: a token or an address may add one only
// while fewer of its own wait than places are free.
func (b *Budget) Take(ctx context.Context, c Client) error {
	return b.take(ctx, &request{client: c}, b.options.WaitMax)
}

// TakeLate is Take for a step of something that has begun. It never returns ErrBusy, and does
// not count as one of those that wait in Take.
func (b *Budget) TakeLate(ctx context.Context, c Client) error {
	return b.take(ctx, &request{client: c, late: true}, 0)
}

func (b *Budget) take(ctx context.Context, r *request, waitMax time.Duration) error {
	if b.options.Size == 0 {
		return nil
	}
	b.mu.Lock()
	if b.mayTake(r.client) { // then none of the client's requests waits
		b.hold(r.client, 1)
		b.mu.Unlock()
		return nil
	}
	if !r.late && !b.mayWait(r.client) {
		b.stats.Refused++
		b.forget(r.client)
		b.mu.Unlock()
		return ErrBusy
	}
	r.ready = make(chan struct{})
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
	b.leave(r, false)
	b.forget(r.client)
	if reason == ErrBusy {
		b.stats.Refused++
	}
	return reason
}

// Try takes n more units if the client's share allows them, as with Options.Shares. It does not
// wait.
func (b *Budget) Try(c Client, n int64) bool {
	if b.options.Size == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	fits := b.leavesEnough(c, n)
	if fits {
		b.hold(c, n)
	}
	b.forget(c)
	return fits
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
	for r := b.next(); r != nil; r = b.next() {
		b.hold(r.client, 1)
		b.leave(r, true)
		r.has = true
		close(r.ready)
	}
}

// Stats returns the present figures.
func (b *Budget) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats
}

// of returns the client's token and address, new ones if the budget does not know them.
func (b *Budget) of(c Client) (*token, *address) {
	t := b.tokens.member(c.Token)
	return t, t.addresses.member(c.Address)
}

// forget drops a client that neither holds nor waits for anything.
func (b *Budget) forget(c Client) {
	t, a := b.of(c)
	if a.held == 0 && a.requests.Len() == 0 {
		t.addresses.drop(c.Address)
	}
	if len(t.addresses.members) == 0 {
		b.tokens.drop(c.Token)
	}
}

func (b *Budget) hold(c Client, n int64) {
	t, a := b.of(c)
	t.held, a.held = t.held+n, a.held+n
	b.free -= n
	b.stats.Held += n
}

// mayTake reports whether a unit is free for a client.
func (b *Budget) mayTake(c Client) bool {
	return b.free > 0 && (!b.options.Shares || b.leavesEnough(c, 1))
}

// leavesEnough reports whether a client that takes n units more leaves as many as it then
// holds. A first unit needs to leave none.
func (b *Budget) leavesEnough(c Client, n int64) bool {
	t, a := b.of(c)
	free := b.free - n
	if c.Token != "" {
		if t.held > 0 && t.held+n > free {
			return false
		}
		free -= t.held + n
	}
	return a.held+n <= free || a.held == 0 && n == 1 && b.free > 0
}

// mayWait reports whether one more request of a client may wait in Take.
func (b *Budget) mayWait(c Client) bool {
	places := int64(b.options.WaitingMax) - b.early
	t, a := b.of(c)
	return b.options.WaitingMax == 0 || a.early < places && (c.Token == "" || t.early < places)
}

// next returns the request whose turn it is: the first one of the first client for which a
// unit is free; nil = there is none.
func (b *Budget) next() *request {
	if b.free == 0 {
		return nil
	}
	for t := range b.tokens.queued {
		for a := range t.addresses.queued {
			if r := a.requests.Front().Value.(*request); b.mayTake(r.client) {
				return r
			}
		}
	}
	return nil
}

func (b *Budget) join(r *request) {
	t, a := b.of(r.client)
	r.at = a.requests.PushBack(r)
	b.count(r, 1)
	t.addresses.queue(r.client.Address)
	b.tokens.queue(r.client.Token)
}

// leave takes a request out of those that wait. A client that was served goes behind the
// others. One whose request gave up keeps its place for its other requests.
func (b *Budget) leave(r *request, served bool) {
	t, a := b.of(r.client)
	a.requests.Remove(r.at)
	b.count(r, -1)
	waits := a.requests.Len() > 0
	if served || !waits {
		t.addresses.unqueue(r.client.Address)
	}
	if waits {
		t.addresses.queue(r.client.Address)
	}
	waits = t.addresses.order.Len() > 0
	if served || !waits {
		b.tokens.unqueue(r.client.Token)
	}
	if waits {
		b.tokens.queue(r.client.Token)
	}
}

// count counts a request that waits.
func (b *Budget) count(r *request, n int64) {
	b.stats.Waiting += n
	if r.late {
		return
	}
	t, a := b.of(r.client)
	b.early, t.early, a.early = b.early+n, t.early+n, a.early+n
}
