package service

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"muster/internal/nowait"
)

// A connection is one of TCP that makes its calls into the system without Go's scheduler:
// see package nowait. What would wait for the network returns at once, and its goroutine
// waits in Go's poller.
type connection struct {
	*net.TCPConn
	raw    syscall.RawConn
	closed func()

	reading, writing transfer
	more             atomic.Bool // follows the next write at once
}

// transfer is one direction.
type transfer struct {
	mu   sync.Mutex
	data []byte
	n    int
	err  error
	call func(fd uintptr) bool // made once, for it would be an allocation of every call
}

func newConnection(tcp *net.TCPConn, closed func()) (net.Conn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	limitUnsent(raw)
	c := &connection{TCPConn: tcp, raw: raw, closed: closed}
	c.reading.call = func(fd uintptr) bool { return c.reading.once(fd, nowait.Read) }
	c.writing.call = func(fd uintptr) bool {
		if c.more.Swap(false) {
			return c.writing.once(fd, nowait.WriteMore)
		}
		return c.writing.once(fd, nowait.Write)
	}
	return c, nil
}

// once makes a call, and reports whether there is no need to wait for the connection.
func (t *transfer) once(fd uintptr, call func(int, []byte) (int, error)) bool {
	t.n, t.err = call(int(fd), t.data[:min(len(t.data), callMost)])
	return t.err != syscall.EAGAIN
}

// callMost is how many bytes one call moves, so that others on the same processor come in
// between.
const callMost = 128 << 10

// More says that the next write is followed by another one at once.
func (c *connection) More() { c.more.Store(true) }

// Read is that of net.Conn.
func (c *connection) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	t := &c.reading
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data, t.n, t.err = p, 0, nil
	err := c.raw.Read(t.call)
	t.data = nil
	switch {
	case err != nil: // a deadline, or it is closed
		return 0, err
	case t.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: t.err}
	case t.n == 0:
		return 0, io.EOF
	}
	return t.n, nil
}

// Write is that of net.Conn.
func (c *connection) Write(p []byte) (int, error) {
	t := &c.writing
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.data = nil }()
	for done := 0; done < len(p); done += t.n {
		t.data, t.n, t.err = p[done:], 0, nil
		if err := c.raw.Write(t.call); err != nil {
			return done, err
		}
		if t.err != nil {
			return done, &net.OpError{Op: "write", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: t.err}
		}
	}
	return len(p), nil
}

// ReadFrom hides that of TCPConn, which would go past Write.
func (c *connection) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, r)
}

// Close is that of net.Conn.
func (c *connection) Close() error {
	err := c.TCPConn.Close()
	c.closed()
	return err
}
