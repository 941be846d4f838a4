// Package pace measures whether clients move bytes at a minimum rate, so that a client that
// stops does not hold memory and a connection for ever. It must not know what the bytes are.
package pace

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// The slack is how long the server waits for a client that moves nothing. Operating systems
// hide how much a reader takes: its own buffers megabytes, and announces room in steps of
// about 400 KB.
const (
	ReadSlack  = 5 * time.Second  // from the client
	WriteSlack = 60 * time.Second // to the client
)

// RateMax is the largest rate that can be measured, in bytes a second.
const RateMax = int64(time.Second) / 2

// A Pace is the time that a client has left. It runs down while the server waits for the
// client. Each byte that moves gives some back, up to the slack. A client that moves nothing
// runs out of time after the slack. A client that is too slow runs out of time later.
type Pace struct {
	Left           time.Duration
	slack, perByte time.Duration
}

// New returns the pace of a client that must move rate bytes a second, 1 to RateMax.
func New(rate int64, slack time.Duration) Pace {
	return Pace{slack, slack, time.Duration(int64(time.Second) / max(rate, 1))}
}

// Record records a wait for the client, and the bytes that moved meanwhile.
func (p *Pace) Record(bytes int, waited time.Duration) {
	p.Left = min(p.slack, p.Left-waited+time.Duration(bytes)*p.perByte)
}

// Listener returns a listener whose connections fail to write when the client reads fewer than
// rate bytes a second.
func Listener(l net.Listener, rate int64) net.Listener { return &listener{l, rate} }

type listener struct {
	net.Listener
	rate int64
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connection{c, New(l.rate, WriteSlack)}, nil
}

type connection struct {
	net.Conn
	pace Pace // of writing; one goroutine at a time uses it
}

// Write implements net.Conn.
func (c *connection) Write(data []byte) (written int, err error) {
	err = c.keepPace(func() (int, error) {
		n, err := c.Conn.Write(data[written:])
		written += n
		return n, err
	})
	return written, err
}

// section is a part of a file that counts what was sent, so that sending can be repeated. Bytes
// of other readers would be lost when a deadline interrupts a write.
type section interface {
	io.Reader
	SendTo(socket int, most int64) (int, error)
}

// ReadFrom implements io.ReaderFrom. The wrapped connection may send a part of a file without
// copying it.
func (c *connection) ReadFrom(r io.Reader) (sent int64, err error) {
	to, ok := c.Conn.(io.ReaderFrom)
	if _, repeats := r.(section); !ok || !repeats {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	err = c.keepPace(func() (int, error) {
		n, err := to.ReadFrom(r)
		sent += n
		return int(n), err
	})
	return sent, err
}

// keepPace repeats a write that its deadline interrupts while the client has time left.
func (c *connection) keepPace(write func() (int, error)) error {
	for {
		began := time.Now()
		if err := c.SetWriteDeadline(began.Add(c.pace.Left)); err != nil {
			return err
		}
		n, err := write()
		c.pace.Record(n, time.Since(began))
		if !errors.Is(err, os.ErrDeadlineExceeded) || c.pace.Left <= 0 {
			return err
		}
	}
}

// More calls More of the wrapped connection, if it exists.
func (c *connection) More() {
	if with, ok := c.Conn.(interface{ More() }); ok {
		with.More()
	}
}

// CloseWrite calls CloseWrite of the wrapped connection, if it exists. net/http uses it to end
// an answer to a client that still sends.
func (c *connection) CloseWrite() error {
	if with, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return with.CloseWrite()
	}
	return nil
}
