package bucket

import (
	"errors"
	"io"
	"sync"
)

// A body has the bytes that one attempt of a request sends. They are in memory that the caller reuses
// afterwards. But a transport may read a body in a goroutine of its own after the attempt has failed, and even
// while minio-go repeats the request. A wait for the transport would depend on how fast the object store reads,
// and a copy would need memory.
//
// So each attempt has a body of its own, which ends with it. Read reads under a lock, and not after Close. A
// transport that still sends then gets an error and closes its connection. The object store never receives a
// whole body with wrong bytes. A body has no WriteTo, which would give the memory away.
type body struct {
	mu sync.Mutex
	in io.Reader // nil = closed
}

var errBodyClosed = errors.New("the attempt has ended")

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.in == nil {
		return 0, errBodyClosed
	}
	return b.in.Read(p)
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.in = nil
	return nil
}
