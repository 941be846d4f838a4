package client

import (
	"context"
	"crypto/sha256"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
)

// batchRead is a request for a small content.
type batchRead struct {
	ctx    context.Context
	d      blob.Digest
	answer func([]byte, error)
}

func batchReadCost(w *batchRead) int64 { return w.d.Size + aroundBlob }

// readBatch requests all items at once, and repeats the request for those that the engine
// postpones.
func (c *Client) readBatch(items []*batchRead) {
	left := dropCancelled(items, func(w *batchRead) error { return w.ctx.Err() }, func(w *batchRead, err error) { w.answer(nil, err) })
	if len(left) == 0 {
		return
	}
	err := c.retries().do(c.life, readingBlobs, func() (err error) {
		left, err = c.readBatchOnce(left)
		return err
	})
	for _, w := range left {
		w.answer(nil, err)
	}
}

// readBatchOnce returns the items that may be tried again, with an error if there are any.
func (c *Client) readBatchOnce(items []*batchRead) ([]*batchRead, error) {
	reply, err := c.cas.BatchReadBlobs(c.life, c.readRequest(items))
	if err != nil {
		return items, err
	}
	responses := map[blob.Digest]*repb.BatchReadBlobsResponse_Response{}
	for _, r := range reply.GetResponses() {
		responses[digestOf(r.GetDigest())] = r
	}
	var left []*batchRead
	for _, w := range items {
		data, e := c.contentOf(w.d, responses[w.d])
		switch {
		case e == nil:
			w.answer(data, nil)
		case retryable(e):
			left, err = append(left, w), e
		case blobGone(e):
			w.answer(nil, c.failed(readingBlobs, &MissingError{[]blob.Digest{w.d}, e}))
		default:
			w.answer(nil, c.failed(readingBlobs, e))
		}
	}
	return left, err
}

func (c *Client) readRequest(items []*batchRead) *repb.BatchReadBlobsRequest {
	req := &repb.BatchReadBlobsRequest{InstanceName: c.o.Instance, DigestFunction: repb.DigestFunction_SHA256}
	if c.decoder != nil {
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

// contentOf extracts a content from an answer and verifies it.
func (c *Client) contentOf(d blob.Digest, r *repb.BatchReadBlobsResponse_Response) ([]byte, error) {
	if r == nil {
		return nil, transient{errNoAnswer}
	}
	if err := status.FromProto(r.GetStatus()).Err(); err != nil {
		return nil, err
	}
	data := r.GetData()
	if r.GetCompressor() == repb.Compressor_ZSTD && c.decoder != nil {
		var err error
		if data, err = c.decoder.DecodeAll(data, make([]byte, 0, d.Size)); err != nil {
			return nil, transient{errDigest}
		}
	}
	if int64(len(data)) != d.Size || sha256.Sum256(data) != d.Hash {
		return nil, transient{errDigest}
	}
	return data, nil
}
