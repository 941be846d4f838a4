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

// readMax is how large a content, in bytes, is read whole.
const readMax = 64 << 20

// Read returns a content, whole in memory: for small ones, of which many callers read some
// each, and of up to 64 MiB. Of the large ones, as lists of very many files are, 128 MiB at
// most are being read at once for all callers; what a caller keeps is its own. A MissingError
// is in the error's chain when the engine has it not.
func (c *Client) Read(ctx context.Context, d blob.Digest) ([]byte, error) {
	return c.ReadWithin(ctx, d, 0)
}

// ReadWithin is Read for who does not mind to wait that long: many such contents come with
// one request.
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
	if _, err = io.CopyN(&data, r, 1); err == nil { // no memory is taken for what the engine has not
		data.Grow(int(d.Size) + bytes.MinRead) // nor twice as much, as growing by copies would
		_, err = data.ReadFrom(r)
	}
	return data.Bytes(), err
}

// blobGone reports whether the engine has not, or has only in part, what it said that it has.
func blobGone(err error) bool {
	code := status.Code(err)
	return code == codes.NotFound || code == codes.DataLoss
}
