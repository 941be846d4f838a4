package bucket

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"muster/fileio"
)

// triesMax is how many times a request is sent.
const triesMax = 5

// waitUnit is the longest wait before the first repetition. It doubles with each repetition, and
// minio-go adds up to 200 ms. If the object store asks for a longer wait by Retry-After, that one counts.
const waitUnit = 100 * time.Millisecond

// repeat calls attempt until it succeeds, fails permanently, or has failed triesMax times. The
// requests of attempt have no condition.
func (p peer) repeat(ctx context.Context, attempt func(context.Context) error) error {
	return p.repeatIf(ctx, false, attempt)
}

// repeatIf is like repeat. hasCondition reports whether the requests have a condition.
//
// minio-go sends each request once: its own repetitions would read a body that the transport of the
// failed attempt may still be reading.
//
// The context of an attempt ends requestMax after the first one began.
func (p peer) repeatIf(ctx context.Context, hasCondition bool, attempt func(context.Context) error) error {
	deadline := time.Now().Add(requestMax)
	for try := 1; ; try++ {
		once, cancel := context.WithDeadline(ctx, deadline)
		err := attempt(once)
		ended := once.Err() != nil
		cancel() // ends what the attempt left running, such as the transfer of a body
		if !hasCondition && errors.Is(p.explain(ctx, err), fileio.ErrChanged) {
			// A client would take fileio.ErrChanged for the answer to a condition of its own.
			err = broken("a condition failed, but the request had none")
		}
		if err == nil || try == triesMax || ended || !p.passes(ctx, err) {
			return err
		}
		wait := rand.N(waitUnit << (try - 1))
		if busy, ok := errors.AsType[*busyError](err); ok {
			wait = max(wait, busy.after)
		}
		if time.Until(deadline) <= wait {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// A body has the bytes that one attempt sends. They are in memory that the caller reuses
// afterwards. But a transport may read a body in a goroutine of its own after the request has
// failed, and even after a repetition has succeeded. A wait for the transport would depend on how
// fast the object store reads, and a copy would need memory.
//
// So each attempt has a body of its own, which ends with it. Read copies under a lock, and reads no
// memory after Close. A transport that still sends then gets an error and closes its connection.
// The object store never receives a whole body with wrong bytes.
//
// A body has no WriteTo, which would give the memory away. It has no Seek, with which minio-go would
// repeat the request.
type body struct {
	mu   sync.Mutex
	data []byte // what was not read yet; nil = closed
	size int64
}

var errBodyClosed = errors.New("the attempt has ended")

func newBody(data []byte) *body {
	return &body{data: data[:len(data):len(data)], size: int64(len(data))}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.data == nil:
		return 0, errBodyClosed
	case len(b.data) == 0:
		return 0, io.EOF
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

// Close implements io.Closer. No Read reads the memory afterwards.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = nil
	return nil
}
