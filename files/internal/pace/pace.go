// Package pace is the least rate at which clients must move bytes, so that those who stop do
// not hold memory and connections for ever. It must not know what the bytes are.
package pace

import (
	"errors"
	"net"
	"os"
	"time"
)

// Slack is how long a client may keep others waiting that moves nothing.
const Slack = 5 * time.Second

// A Pace is the time that a client has left: it runs while the client is waited for, and each
// byte that moves gives some back, up to Slack. Who moves less than the rate runs out of
// it, at once or in time.
type Pace struct {
	Left    time.Duration
	perByte time.Duration
}

// New returns the pace of a client that has to move so many bytes a second.
func New(rate int64) Pace {
	return Pace{Slack, time.Duration(int64(time.Second) / max(rate, 1))}
}

// Moved counts bytes that moved while the client was waited for.
func (p *Pace) Moved(bytes int, waited time.Duration) {
	p.Left = min(Slack, p.Left-waited+time.Duration(bytes)*p.perByte)
}

// Listener returns a listener whose connections break when the other end takes less than so many
// bytes a second of what is written.
func Listener(l net.Listener, rate int64) net.Listener { return &listener{l, rate} }

type listener struct {
	net.Listener
	rate int64
}

// Accept is that of net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connection{c, New(l.rate)}, nil
}

type connection struct {
	net.Conn
	pace Pace // of what is written, by one goroutine at a time
}

// Write is that of net.Conn.
func (c *connection) Write(data []byte) (written int, err error) {
	for {
		began := time.Now()
		if err := c.SetWriteDeadline(began.Add(c.pace.Left)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(data[written:])
		written += n
		c.pace.Moved(n, time.Since(began))
		if !errors.Is(err, os.ErrDeadlineExceeded) || c.pace.Left <= 0 {
			return written, err
		}
	}
}

// More is that of the connection within.
func (c *connection) More() {
	if with, ok := c.Conn.(interface{ More() }); ok {
		with.More()
	}
}
