package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/internal/readable"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

var errDigest = errors.New("what it sent has another digest than what was asked for")

// readMax is the largest content, in bytes, that is read whole.
const readMax = 64 << 20

// Read returns a whole content, of up to 64 MiB. It is best for small contents that many
// callers read. For all callers together it reads large ones, such as lists of very many files,
// up to 128 MiB at once; a returned content belongs to its caller. The error wraps a
// MissingError if the engine does not have the content.
func (c *Client) Read(ctx context.Context, d blob.Digest) ([]byte, error) {
	return c.ReadWithin(ctx, d, 0)
}

// ReadWithin is like Read but may wait up to d to share a batch.
func (c *Client) ReadWithin(ctx context.Context, d blob.Digest, wait time.Duration) ([]byte, error) {
	if d.Size == 0 {
		return nil, nil
	}
	if d.Size > readMax {
		return nil, fault.Environmentf("engine %s, reading a content: it has %s, and %s are possible here", c.o.URL, readable.Count(d.Size, "byte"), readable.Number(int64(readMax)))
	}
	if d.Size > c.limit.small {
		return c.readLarge(ctx, d)
	}
	var data []byte
	one := newLatch(1)
	c.reads.addWithin(wait, &batchRead{ctx, d, func(b []byte, err error) {
		data = b
		one.countDown(err)
	}})
	if err := one.wait(ctx); err != nil {
		return nil, err
	}
	return data, nil
}

func (c *Client) readLarge(ctx context.Context, d blob.Digest) ([]byte, error) {
	if err := c.largeReads.Acquire(ctx, d.Size); err != nil {
		return nil, err
	}
	defer c.largeReads.Release(d.Size)
	r, err := c.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var data bytes.Buffer
	if _, err = io.CopyN(&data, r, 1); err == nil { // allocates nothing before the engine has sent something
		data.Grow(int(d.Size) + bytes.MinRead) // avoids the double memory of growing by copies
		_, err = data.ReadFrom(r)
	}
	return data.Bytes(), err
}

// blobGone reports whether the engine lacks a content, or a part of it, that it reported as
// present.
func blobGone(err error) bool {
	code := status.Code(err)
	return code == codes.NotFound || code == codes.DataLoss
}
