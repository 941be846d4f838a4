package bucket

import (
	"io"
	"io/fs"
	"sync"
	"time"
)

// lingerMax is how long a stream may hold a connection while its reader does not read, because
// a client is slow. The reader goes on with another request.
const lingerMax = 100 * time.Millisecond

// A stream is the rest of an answer whose first bytes were read.
type stream struct {
	mu     sync.Mutex
	body   io.ReadCloser // nil = closed
	end    func()        // gives the connection back
	timer  *time.Timer
	linger time.Duration
}

func newStream(body io.ReadCloser, end func(), linger time.Duration) *stream {
	s := &stream{body: body, end: end, linger: linger}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(linger, s.close)
	return s
}

// read fills data. After an error the stream cannot be used.
func (s *stream) read(data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.body == nil {
		return fs.ErrClosed
	}
	s.timer.Stop()
	_, err := io.ReadFull(s.body, data)
	s.timer.Reset(s.linger)
	return err
}

func (s *stream) closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.body == nil
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.body != nil {
		s.timer.Stop()
		_ = s.body.Close() // what was read is whole
		s.body = nil
		s.end()
	}
}
