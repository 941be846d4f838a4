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

// Options configure a budget.
type Options struct {
	Size       int64         // units; 0 = no limit, and no request waits
	WaitingMax int           // requests that may wait in Take; 0 = no limit
	WaitMax    time.Duration // how long a request may wait in Take; 0 = no limit

	// Shares is for units that clients hold as long as they like. A client that has a unit
	// gets another one only if that leaves as many free as it then holds. So one address has
	// half of the units at most, and the next one a quarter. The same holds for tokens, and
	// an address also leaves its token as much as it holds.
	Shares bool
}

// Stats holds the figures of one moment.
type Stats struct {
	Held, Waiting int64
	Refused       int64         // since New
	Wait          time.Duration // sum over the requests that waited and got their unit
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

// A token holds the share that its clients divide.
type token struct {
	share
	addresses line[address]
}

// An address is one client, with its waiting requests in order.
type address struct {
	share
	requests list.List // of *request
}

// A share counts the units of a token or an address, and its requests that wait in Take.
type share struct{ held, early int64 }

type request struct {
	client   Client
	late     bool
	position *list.Element
	ready    chan struct{} // closed when the unit is granted
	granted  bool
}

// New returns a budget whose units are all free.
func New(o Options) *Budget { return &Budget{options: o, free: o.Size} }

// Take takes one unit. It waits until a unit is free for the client and it is the client's
// turn. It returns the context's error if the context ends, and ErrBusy after Options.WaitMax.
// It returns ErrBusy at once if too many requests wait. A token or an address may add a
// request only while fewer of its own requests wait than places are free.
func (b *Budget) Take(ctx context.Context, c Client) error {
	return b.take(ctx, &request{client: c}, b.options.WaitMax)
}

// TakeLate is like Take, for a step of an operation that has begun. It never returns ErrBusy.
// Options.WaitingMax does not count it.
func (b *Budget) TakeLate(ctx context.Context, c Client) error {
	return b.take(ctx, &request{client: c, late: true}, 0)
}

func (b *Budget) take(ctx context.Context, r *request, waitMax time.Duration) error {
	if b.options.Size == 0 {
		return nil
	}
	b.mu.Lock()
	if b.mayTake(r.client) { // so no request of this client is waiting
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
	b.enqueue(r)
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
	if r.granted { // the unit may have come at the same time
		b.stats.Wait += time.Since(began)
		return nil
	}
	b.dequeue(r, false)
	b.forget(r.client)
	if reason == ErrBusy {
		b.stats.Refused++
	}
	return reason
}

// TryTake takes n more units if the client's share allows them, by the rule of Options.Shares.
// It does not wait.
func (b *Budget) TryTake(c Client, n int64) bool {
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
	for r := b.nextReady(); r != nil; r = b.nextReady() {
		b.hold(r.client, 1)
		b.dequeue(r, true)
		r.granted = true
		close(r.ready)
	}
}

// Stats returns the present figures.
func (b *Budget) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats
}

// find returns the client's token and address. It adds those that are missing.
func (b *Budget) find(c Client) (*token, *address) {
	t := b.tokens.member(c.Token)
	return t, t.addresses.member(c.Address)
}

// forget drops a client that holds no unit and has no waiting request.
func (b *Budget) forget(c Client) {
	t, a := b.find(c)
	if a.held == 0 && a.requests.Len() == 0 {
		t.addresses.drop(c.Address)
	}
	if len(t.addresses.members) == 0 {
		b.tokens.drop(c.Token)
	}
}

func (b *Budget) hold(c Client, n int64) {
	t, a := b.find(c)
	t.held, a.held = t.held+n, a.held+n
	b.free -= n
	b.stats.Held += n
}

// mayTake reports whether a unit is free for a client.
func (b *Budget) mayTake(c Client) bool {
	return b.free > 0 && (!b.options.Shares || b.leavesEnough(c, 1))
}

// leavesEnough reports whether a client that takes n more units leaves as many free as it then
// holds. A first unit is allowed in any case.
func (b *Budget) leavesEnough(c Client, n int64) bool {
	t, a := b.find(c)
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
	t, a := b.find(c)
	return b.options.WaitingMax == 0 || a.early < places && (c.Token == "" || t.early < places)
}

// nextReady returns the first request of the first client for which a unit is free, or nil.
func (b *Budget) nextReady() *request {
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

func (b *Budget) enqueue(r *request) {
	t, a := b.find(r.client)
	r.position = a.requests.PushBack(r)
	b.countWaiting(r, 1)
	t.addresses.queue(r.client.Address)
	b.tokens.queue(r.client.Token)
}

// dequeue removes a waiting request. A served client moves behind the others. If the request
// gave up, the client keeps its position for its other requests.
func (b *Budget) dequeue(r *request, served bool) {
	t, a := b.find(r.client)
	a.requests.Remove(r.position)
	b.countWaiting(r, -1)
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

// countWaiting adds n to the counters of waiting requests.
func (b *Budget) countWaiting(r *request, n int64) {
	b.stats.Waiting += n
	if r.late {
		return
	}
	t, a := b.find(r.client)
	b.early, t.early, a.early = b.early+n, t.early+n, a.early+n
}

// A Client identifies the sender of a request. Each token has a share, which is divided among
// its addresses. The empty token is shared by all clients that need no token. It is not
// limited as a whole.
type Client struct{ Token, Address string }

type clientKey struct{}

// WithClient returns a context of a request of a client.
func WithClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// ClientOf returns the client of a request. A context without one has the zero Client.
func ClientOf(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}

// A line has members by name. Some of them are in a queue.
type line[M any] struct {
	members map[string]*member[M]
	order   list.List  // of *member[M]
	spare   *member[M] // the last one that was dropped, with nothing in it; a lone client comes and goes
}

type member[M any] struct {
	value    M
	position *list.Element // in the queue; nil = not queued
}

// member returns the member of that name, and adds it if it is missing.
func (l *line[M]) member(name string) *M {
	m := l.members[name]
	if m == nil {
		if l.members == nil {
			l.members = map[string]*member[M]{}
		}
		m, l.spare = l.spare, nil
		if m == nil {
			m = &member[M]{}
		}
		l.members[name] = m
	}
	return &m.value
}

// drop removes a member that is not queued and holds nothing.
func (l *line[M]) drop(name string) {
	l.spare = l.members[name]
	delete(l.members, name)
}

// queue adds a member at the end of the queue, unless it is queued already.
func (l *line[M]) queue(name string) {
	if m := l.members[name]; m.position == nil {
		m.position = l.order.PushBack(m)
	}
}

// unqueue removes a member from the queue.
func (l *line[M]) unqueue(name string) {
	m := l.members[name]
	l.order.Remove(m.position)
	m.position = nil
}

// queued yields the queued members, first to last.
func (l *line[M]) queued(yield func(*M) bool) {
	for e := l.order.Front(); e != nil; e = e.Next() {
		if !yield(&e.Value.(*member[M]).value) {
			return
		}
	}
}
