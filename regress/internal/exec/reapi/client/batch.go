package client

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
)

// aroundBlob is the most that a digest and its surroundings take in a message, in bytes.
const aroundBlob = 128

// dropCancelled answers the items whose callers have given up, and returns the others.
func dropCancelled[T any](items []T, cancelled func(T) error, answer func(T, error)) []T {
	var left []T
	for _, item := range items {
		if err := cancelled(item); err != nil {
			answer(item, err)
		} else {
			left = append(left, item)
		}
	}
	return left
}

// digestOf returns the digest in an answer. An invalid one equals no digest of a caller.
func digestOf(m *repb.Digest) blob.Digest {
	d, err := blob.FromProto(m)
	if err != nil {
		return blob.Digest{Size: -1}
	}
	return d
}

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

// compressMin is the size, in bytes, below which compression gains nothing.
const compressMin = 512

// batchUpload is a small content to send.
type batchUpload struct {
	d      blob.Digest
	data   []byte
	settle func(error)
}

func batchUploadCost(u *batchUpload) int64 { return u.d.Size + aroundBlob }

// updateBatch sends items in one request, and repeats it for those that the engine postpones.
func (c *Client) updateBatch(items []*batchUpload) {
	left := items
	err := c.retries().do(c.life, sendingBlobs, func() (err error) {
		left, err = c.updateBatchOnce(left)
		return err
	})
	for _, u := range left {
		u.settle(err)
	}
}

// updateBatchOnce returns the items that may be tried again, with an error if there are any.
func (c *Client) updateBatchOnce(items []*batchUpload) ([]*batchUpload, error) {
	reply, err := c.cas.BatchUpdateBlobs(c.life, c.updateRequest(items))
	if err != nil {
		return items, err
	}
	statuses := map[blob.Digest]*status.Status{}
	for _, r := range reply.GetResponses() {
		statuses[digestOf(r.GetDigest())] = status.FromProto(r.GetStatus())
	}
	var left []*batchUpload
	for _, u := range items {
		s, ok := statuses[u.d]
		if !ok {
			left, err = append(left, u), transient{errNoAnswer}
			continue
		}
		switch e := s.Err(); {
		case e == nil || s.Code() == codes.AlreadyExists:
			u.settle(nil)
		case retryable(e):
			left, err = append(left, u), e
		default:
			u.settle(c.failed(sendingBlobs, e))
		}
	}
	return left, err
}

func (c *Client) updateRequest(items []*batchUpload) *repb.BatchUpdateBlobsRequest {
	req := &repb.BatchUpdateBlobsRequest{InstanceName: c.o.Instance, DigestFunction: repb.DigestFunction_SHA256}
	for _, u := range items {
		one := &repb.BatchUpdateBlobsRequest_Request{Digest: u.d.Proto(), Data: u.data}
		if c.encoder != nil && len(u.data) >= compressMin {
			if packed := c.encoder.EncodeAll(u.data, nil); len(packed) < len(u.data) {
				one.Data, one.Compressor = packed, repb.Compressor_ZSTD
			}
		}
		req.Requests = append(req.Requests, one)
	}
	return req
}

// batcher combines what many goroutines request one by one into few requests. An item is sent
// at once if no request is in flight. While the allowed number of requests is in flight, items
// wait and go together with the next one. Otherwise only an item that allows it waits for
// others.
type batcher[T any] struct {
	send        func([]T)     // makes one request, and answers each of the items
	cost        func(T) int64 // bytes of an item in a message
	room        int64         // bytes of one request; a larger item goes alone
	inFlightMax int           // number of requests in flight
	working     *sync.WaitGroup

	mu       sync.Mutex
	queue    []T
	inFlight int
	later    bool // the time limit of the first item that waits for others
}

func (b *batcher[T]) add(items ...T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, items...)
	b.begin()
}

// addWithin is like add for an item that need not go at once.
func (b *batcher[T]) addWithin(wait time.Duration, item T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, item)
	switch {
	case wait <= 0:
		b.begin()
	case !b.later: // even if a request is in flight, because that one may hang
		b.later = true
		b.working.Add(1)
		time.AfterFunc(wait, func() {
			defer b.working.Done()
			b.mu.Lock()
			defer b.mu.Unlock()
			b.later = false
			b.begin()
		})
	}
}

func (b *batcher[T]) begin() {
	if len(b.queue) > 0 && b.inFlight < b.inFlightMax {
		b.inFlight++
		b.working.Go(b.work)
	}
}

func (b *batcher[T]) work() {
	for batch := b.take(); batch != nil; batch = b.take() {
		b.send(batch)
	}
}

// take returns the items of the next request, or nil to end work.
func (b *batcher[T]) take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.queue = nil
		b.inFlight--
		return nil
	}
	n, sum := 0, int64(0)
	for n < len(b.queue) && (n == 0 || sum+b.cost(b.queue[n]) <= b.room) {
		sum += b.cost(b.queue[n])
		n++
	}
	batch := b.queue[:n:n]
	b.queue = b.queue[n:]
	b.begin()
	return batch
}
