package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

var errDigest = errors.New("what it sent has another digest than what was asked for")

// wanted is a small content to read.
type wanted struct {
	ctx    context.Context
	d      blob.Digest
	answer func([]byte, error)
}

func wantedCost(w *wanted) int64 { return w.d.Size + aroundBlob }

// readMax is how large a content, in bytes, is read whole.
const readMax = 64 << 20

// Read returns a content, whole in memory: for small ones, of which many callers read some
// each, and of up to 64 MiB. Of the large ones, as lists of very many files are, 128 MiB at
// most are being read at once for all callers; what a caller keeps is its own. A Missing is in
// the error's chain when the engine has it not.
func (c *Client) Read(ctx context.Context, d blob.Digest) ([]byte, error) {
	if d.Size == 0 {
		return nil, nil
	}
	if d.Size > readMax {
		return nil, fault.Environmentf("engine %s, reading a content: it has %d bytes, and %d are possible here", c.o.URL, d.Size, readMax)
	}
	if d.Size > c.limit.small {
		return c.readLarge(ctx, d)
	}
	var data []byte
	one := newTally(1)
	c.reads.add(&wanted{ctx, d, func(b []byte, err error) {
		data = b
		one.one(err)
	}})
	if err := one.wait(ctx); err != nil {
		return nil, err
	}
	return data, nil
}

func (c *Client) readLarge(ctx context.Context, d blob.Digest) ([]byte, error) {
	if err := c.whole.Acquire(ctx, d.Size); err != nil {
		return nil, err
	}
	defer c.whole.Release(d.Size)
	r, err := c.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var data bytes.Buffer
	data.Grow(int(d.Size) + bytes.MinRead) // else it would grow by copies, to twice as much
	_, err = data.ReadFrom(r)
	return data.Bytes(), err
}

// fetch is one request for all of items, and again for what the engine puts off.
func (c *Client) fetch(items []*wanted) {
	left := dropGiven(items, func(w *wanted) error { return w.ctx.Err() }, func(w *wanted, err error) { w.answer(nil, err) })
	if len(left) == 0 {
		return
	}
	err := c.retries().do(c.life, "reading contents", func() (err error) {
		left, err = c.fetchOnce(left)
		return err
	})
	for _, w := range left {
		w.answer(nil, err)
	}
}

// fetchOnce returns those that may be tried again, with an error if there are some.
func (c *Client) fetchOnce(items []*wanted) ([]*wanted, error) {
	reply, err := c.cas.BatchReadBlobs(c.life, c.readOf(items))
	if err != nil {
		return items, err
	}
	said := map[blob.Digest]*repb.BatchReadBlobsResponse_Response{}
	for _, r := range reply.GetResponses() {
		said[digestOf(r.GetDigest())] = r
	}
	var left []*wanted
	for _, w := range items {
		data, e := c.contentOf(w.d, said[w.d])
		switch {
		case e == nil:
			w.answer(data, nil)
		case passes(e):
			left, err = append(left, w), e
		case lost(e):
			w.answer(nil, c.failed("reading contents", &Missing{[]blob.Digest{w.d}, e}))
		default:
			w.answer(nil, c.failed("reading contents", e))
		}
	}
	return left, err
}

// lost reports whether the engine has not, or has only in part, what it said that it has.
func lost(err error) bool {
	code := status.Code(err)
	return code == codes.NotFound || code == codes.DataLoss
}

func (c *Client) readOf(items []*wanted) *repb.BatchReadBlobsRequest {
	req := &repb.BatchReadBlobsRequest{InstanceName: c.o.Instance, DigestFunction: repb.DigestFunction_SHA256}
	if c.unzip != nil {
		req.AcceptableCompressors = []repb.Compressor_Value{repb.Compressor_ZSTD}
	}
	asked := map[blob.Digest]bool{}
	for _, w := range items {
		if !asked[w.d] {
			req.Digests = append(req.Digests, w.d.Proto())
		}
		asked[w.d] = true
	}
	return req
}

// contentOf takes a content out of an answer and checks it.
func (c *Client) contentOf(d blob.Digest, r *repb.BatchReadBlobsResponse_Response) ([]byte, error) {
	if r == nil {
		return nil, transient{errNoAnswer}
	}
	if err := status.FromProto(r.GetStatus()).Err(); err != nil {
		return nil, err
	}
	data := r.GetData()
	if r.GetCompressor() == repb.Compressor_ZSTD && c.unzip != nil {
		var err error
		if data, err = c.unzip.DecodeAll(data, make([]byte, 0, d.Size)); err != nil {
			return nil, transient{errDigest}
		}
	}
	if int64(len(data)) != d.Size || sha256.Sum256(data) != d.Hash {
		return nil, transient{errDigest}
	}
	return data, nil
}
