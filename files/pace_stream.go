package files

import (
	"io"
	"sync"
	"time"
)

// clocks are the clocks of the connections of HTTP/2 that bodies come over, by the client's
// address and port.
type clocks struct {
	mu sync.Mutex
	of map[string]*clock
}

// A clock runs while a connection waits for its client: while all bodies that come over it wait
// for bytes. A body that the server does not read fills the connection's window, and then the
// others wait for the server.
type clock struct {
	mu            sync.Mutex
	bodies, reads int
	ran           time.Duration // until since
	since         time.Time
}

// join returns the clock of a connection that one more body comes over.
func (c *clocks) join(address string) *clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.of[address]
	if one == nil {
		if c.of == nil {
			c.of = map[string]*clock{}
		}
		one = &clock{}
		c.of[address] = one
	}
	one.change(1, 0)
	return one
}

// leave tells that one of the bodies has ended.
func (c *clocks) leave(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.of[address]
	if one.change(-1, 0); one.bodies == 0 {
		delete(c.of, address)
	}
}

// change adds bodies, and bodies that wait for bytes. It returns how long the clock has run.
func (c *clock) change(bodies, reads int) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.reads > 0 && c.reads == c.bodies {
		c.ran += now.Sub(c.since)
	}
	c.since = now
	c.bodies, c.reads = c.bodies+bodies, c.reads+reads
	return c.ran
}

// streamBody is a body that comes over a stream of HTTP/2, at the client's pace.
type streamBody struct {
	io.ReadCloser
	owed
	clock *clock

	mu    sync.Mutex
	timer *time.Timer
	reads bool
	began time.Duration // by the clock
}

// Read is that of io.Reader.
func (b *streamBody) Read(p []byte) (int, error) {
	b.begin()
	n, err := b.ReadCloser.Read(p)
	b.end(n)
	if err != nil && err != io.EOF {
		err = &clientError{err}
	}
	return n, err
}

func (b *streamBody) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads, b.began = true, b.clock.change(0, 1)
	if b.timer == nil {
		b.timer = time.AfterFunc(b.left.Left, b.look)
	} else {
		b.timer.Reset(b.left.Left)
	}
}

// look breaks the stream if the client has no time left.
func (b *streamBody) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.reads {
		return
	}
	if left := b.left.Left - (b.clock.change(0, 0) - b.began); left > 0 {
		b.timer.Reset(left)
		return
	}
	_ = b.connection.SetReadDeadline(time.Now().Add(-time.Second)) // Read tells
}

func (b *streamBody) end(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads = false
	b.timer.Stop()
	b.left.Moved(n, b.clock.change(0, -1)-b.began)
}
