package local

import (
	"io"
	"syscall"

	"muster/regress/lane"
)

// stream is the reading end of a helper's answers, which must not block. Its reads wait only
// in the runtime's poller: each system call ends at once, so it bypasses the runtime (see
// lane.ReadNow).
type stream struct {
	conn syscall.RawConn

	// State of the present call.
	b   []byte
	n   int
	err error
	// The function tryRead, made once.
	read func(fd uintptr) bool
}

// newStream returns a stream over a pipe or socket. One goroutine uses it at a time.
func newStream(conn syscall.RawConn) *stream {
	s := &stream{conn: conn}
	s.read = s.tryRead
	return s
}

// tryRead makes one system call, and reports whether there was something to read.
func (s *stream) tryRead(fd uintptr) bool {
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

// Read reads the data that has come, or waits for some.
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
