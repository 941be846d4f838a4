package local

import (
	"io"
	"syscall"

	"muster/regress/lane"
)

// stream is the end of a helper's answers, which must not block. Its reads wait in
// the runtime's poller and nowhere else: each system call is over at once, so the
// runtime is not told of it (lane.ReadNow says why).
type stream struct {
	conn syscall.RawConn

	// Of the present call.
	b   []byte
	n   int
	err error
	// The same at every call, made once.
	read func(fd uintptr) bool
}

// newStream returns a stream over a pipe or socket. One goroutine uses it at a time.
func newStream(conn syscall.RawConn) *stream {
	s := &stream{conn: conn}
	s.read = s.once
	return s
}

// once makes one system call, and reports whether it is over: that there was
// something to read.
func (s *stream) once(fd uintptr) bool {
	for {
		switch s.n, s.err = lane.ReadNow(int(fd), s.b); s.err {
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
			continue
		}
		return true
	}
}

// Read reads what is there, or waits until there is something.
func (s *stream) Read(b []byte) (int, error) {
	s.b = b
	err := s.conn.Read(s.read)
	s.b = nil
	switch {
	case err != nil:
		return 0, err
	case s.err == nil && s.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return s.n, s.err
}
