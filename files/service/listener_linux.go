package service

import (
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"muster/internal/nowait"
)

// A connection is a TCP connection that makes its system calls through package nowait, past
// Go's scheduler. A call that would wait for the network returns at once. Its goroutine then
// waits in Go's poller.
type connection struct {
	*net.TCPConn
	raw    syscall.RawConn
	closed func()

	reading, writing transfer
	more             atomic.Bool // another write follows the next one at once
}

// transfer is the state of one direction.
type transfer struct {
	deadline deadline

	mu      sync.Mutex
	data    []byte
	section *nowait.Section // to be sent; nil = data
	n       int
	err     error
	waited  bool                  // for the connection, since a section was sent
	call    func(fd uintptr) bool // created once: otherwise each call would allocate it
}

func newConnection(tcp *net.TCPConn, closed func()) (net.Conn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	limitUnsent(raw)
	c := &connection{TCPConn: tcp, raw: raw, closed: closed}
	c.reading.deadline.set, c.writing.deadline.set = tcp.SetReadDeadline, tcp.SetWriteDeadline
	c.reading.call = func(fd uintptr) bool { return c.reading.try(fd, nowait.Read) }
	c.writing.call = func(fd uintptr) bool {
		if s := c.writing.section; s != nil {
			c.writing.send(int(fd), s)
			return c.writing.tried()
		}
		if c.more.Swap(false) {
			return c.writing.try(fd, nowait.WriteMore)
		}
		return c.writing.try(fd, nowait.Write)
	}
	return c, nil
}

// try makes a call, and reports whether it need not wait for the connection.
func (t *transfer) try(fd uintptr, call func(int, []byte) (int, error)) bool {
	t.n, t.err = call(int(fd), t.data[:min(len(t.data), callMax)])
	return t.tried()
}

// send sends a piece of a section. It sends none that the system has dropped from memory while
// the connection waited: that would wait for the disk.
func (t *transfer) send(fd int, s *nowait.Section) {
	t.n, t.err = 0, nil
	if t.waited && !nowait.InMemory(s.File, s.Offset, min(s.Left, callMax)) {
		return
	}
	t.n, t.err = s.SendTo(fd, callMax)
}

// tried reports whether the call need not wait.
func (t *transfer) tried() bool {
	if t.err != syscall.EAGAIN {
		return true
	}
	t.waited = true
	t.deadline.wait()
	return false
}

// run makes the call. It waits for the connection, up to the deadline. When the deadline has
// passed, run makes the call once more: the client may have been in time, and only this busy
// process late. A deadline that has ended a call, or had passed when it was set, allows no
// call: net/http cancels the requests of a connection after an error, so none must follow.
func (c *connection) run(t *transfer, raw func(func(uintptr) bool) error) error {
	for {
		if t.deadline.bars() {
			return os.ErrDeadlineExceeded
		}
		err := raw(t.call)
		t.deadline.waited()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		switch {
		case t.deadline.bars(): // net/http ends a read that waits for the next request
			return os.ErrDeadlineExceeded
		case t.deadline.passed():
			return c.tryLast(t)
		}
		if err := t.deadline.renew(); err != nil {
			return err
		}
	}
}

// tryLast makes the call after the deadline, without waiting.
func (c *connection) tryLast(t *transfer) error {
	ready := false
	err := c.raw.Control(func(fd uintptr) { ready = t.call(fd) })
	t.deadline.waited()
	if err == nil && !ready {
		t.deadline.bar()
		return os.ErrDeadlineExceeded
	}
	return err
}

// callMax is how many bytes one call moves, so that other goroutines on the same processor run
// in between.
const callMax = 128 << 10

// More announces that another write follows the next one at once.
func (c *connection) More() { c.more.Store(true) }

// Read implements net.Conn.
func (c *connection) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	t := &c.reading
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data, t.n, t.err = p, 0, nil
	err := c.run(t, c.raw.Read)
	t.data = nil
	switch {
	case err != nil: // a deadline, or a closed connection
		return 0, err
	case t.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: t.err}
	case t.n == 0:
		return 0, io.EOF
	}
	return t.n, nil
}

// Write implements net.Conn.
func (c *connection) Write(p []byte) (int, error) {
	t := &c.writing
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.data = nil }()
	for done := 0; done < len(p); done += t.n {
		t.data, t.n, t.err = p[done:], 0, nil
		if err := c.run(t, c.raw.Write); err != nil {
			return done, err
		}
		if t.err != nil {
			return done, &net.OpError{Op: "write", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: t.err}
		}
	}
	return len(p), nil
}

// ReadFrom sends a part of a file without copying it. It ends early where the file does, or
// where the file is no longer in memory. It hides TCPConn.ReadFrom, which would bypass Write.
func (c *connection) ReadFrom(r io.Reader) (sent int64, err error) {
	section, ok := r.(*nowait.Section)
	if !ok {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	t := &c.writing
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.section = nil }()
	t.section = section
	for section.Left > 0 {
		if err := c.run(t, c.raw.Write); err != nil {
			return sent, err
		}
		if t.err != nil {
			return sent, &net.OpError{Op: "write", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: t.err}
		}
		if t.n == 0 {
			break
		}
		sent += int64(t.n)
	}
	t.waited = t.waited && section.Left > 0
	return sent, nil
}

// SetDeadline implements net.Conn.
func (c *connection) SetDeadline(at time.Time) error {
	return errors.Join(c.SetReadDeadline(at), c.SetWriteDeadline(at))
}

// SetReadDeadline implements net.Conn.
func (c *connection) SetReadDeadline(at time.Time) error { return c.reading.deadline.change(at) }

// SetWriteDeadline implements net.Conn.
func (c *connection) SetWriteDeadline(at time.Time) error { return c.writing.deadline.change(at) }

// Close implements net.Conn.
func (c *connection) Close() error {
	err := c.TCPConn.Close()
	c.closed()
	return err
}

// osThreads counts this process's system threads, including those of the kernel and of C.
func osThreads() int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nThreads:")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(strings.TrimSpace(line))
	return n
}

// unsentMax is how many unsent bytes the system buffers for a connection. Without a limit it
// buffers megabytes, and a client that reads nothing would look like one that reads.
const unsentMax = 128 << 10

// limitUnsent sets unsentMax for a connection. Accepted connections do not inherit it from the
// listener, because it uses MPTCP.
func limitUnsent(raw syscall.RawConn) {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentMax)
	})
}
