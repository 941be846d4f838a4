package client

import (
	"context"
	"io"
	"sync"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/internal/readable"
	"muster/pool"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

// Upload returns when the engine has all blobs. It sends those that the engine reports as
// missing, each only once for all callers, and remembers those that are present. Contents in
// memory must not change. In addition it holds at most 32 MiB for all callers.
func (c *Client) Upload(ctx context.Context, blobs []blob.Blob) error {
	for len(blobs) > 0 {
		mine, others := c.known.claim(blobs)
		// First the contents for which others may wait, then those of others, so that no two
		// callers wait for each other.
		if err := c.settleAll(ctx, mine); err != nil {
			return err
		}
		blobs = blobs[:0:0]
		for _, u := range others {
			if err := u.wait(ctx); err == nil {
				continue
			} else if !u.abandoned || ctx.Err() != nil {
				return err
			}
			blobs = append(blobs, u.b)
		}
	}
	return nil
}

func (u *pendingUpload) wait(ctx context.Context) error { return waitFor(ctx, u.done, &u.err) }

// settleAll makes sure that the engine has the contents of uploads, and that each upload ends.
// Some may end after an error was returned.
func (c *Client) settleAll(ctx context.Context, uploads []*pendingUpload) error {
	absent, err := c.withoutPresent(ctx, uploads)
	if err == nil {
		err = c.sendAll(ctx, absent)
	}
	if err == nil {
		return nil
	}
	for _, u := range uploads {
		if !u.batched {
			c.known.abandon(u, err)
		}
	}
	return err
}

// withoutPresent settles the uploads that the engine has already, and returns the others.
func (c *Client) withoutPresent(ctx context.Context, uploads []*pendingUpload) ([]*pendingUpload, error) {
	ds := make([]blob.Digest, len(uploads))
	for i, u := range uploads {
		ds[i] = u.b.Digest
	}
	missing, err := c.FindMissing(ctx, ds)
	if err != nil {
		return nil, err
	}
	lacks := make(map[blob.Digest]bool, len(missing))
	for _, d := range missing {
		lacks[d] = true
	}
	var absent []*pendingUpload
	for _, u := range uploads {
		if lacks[u.b.Digest] {
			absent = append(absent, u)
		} else {
			c.known.settle(u, nil)
		}
	}
	return absent, nil
}

// sendAll leaves small contents to batches, and meanwhile sends large ones in parallel.
func (c *Client) sendAll(ctx context.Context, uploads []*pendingUpload) error {
	var large []*pendingUpload
	for _, u := range uploads {
		if u.b.Digest.Size > c.limit.small {
			large = append(large, u)
		} else if err := c.enqueue(ctx, u); err != nil {
			return err
		}
	}
	if len(large) > 0 {
		if err := pool.ForEach(ctx, streamsMax, large, c.sendLarge); err != nil {
			return err
		}
	}
	for _, u := range uploads {
		if err := u.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) sendLarge(ctx context.Context, u *pendingUpload) error {
	if d := u.b.Digest; c.limit.blob > 0 && d.Size > c.limit.blob {
		return fault.Environmentf("engine %s takes contents of up to %s, and this one has %s", c.o.URL, readable.Count(c.limit.blob, "byte"), readable.Number(d.Size))
	}
	if err := c.streams.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.streams.Release(1)
	err := c.write(ctx, u.b)
	if err == nil {
		c.known.settle(u, nil)
	}
	return err
}

// enqueue reads a small content and leaves it to the next batch, which settles it.
func (c *Client) enqueue(ctx context.Context, u *pendingUpload) error {
	size := u.b.Digest.Size
	if err := c.buffered.Acquire(ctx, size); err != nil {
		return err
	}
	data, err := whole(u.b)
	if err != nil {
		c.buffered.Release(size)
		return err
	}
	u.batched = true
	c.uploads.add(&batchUpload{d: u.b.Digest, data: data, settle: func(err error) {
		c.buffered.Release(size)
		c.known.settle(u, err)
	}})
	return nil
}

// whole reads a content and checks its length. The engine checks its digest.
func whole(b blob.Blob) ([]byte, error) {
	data := b.Bytes
	if b.Open != nil {
		r, err := b.Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		data = make([]byte, b.Digest.Size+1)
		n, err := io.ReadFull(r, data)
		if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
			return nil, err
		}
		data = data[:n]
	}
	if int64(len(data)) != b.Digest.Size {
		return nil, changed(b, int64(len(data)))
	}
	return data, nil
}

func changed(b blob.Blob, n int64) error {
	return fault.Environmentf("a content of %s gave %s: did it change meanwhile?", readable.Count(b.Digest.Size, "byte"), readable.Number(n))
}

// batchQuery asks whether the engine has one content.
type batchQuery struct {
	ctx    context.Context // context of the caller
	d      blob.Digest
	answer func(missing bool, err error)
}

func batchQueryCost(*batchQuery) int64 { return aroundBlob }

// FindMissing returns the digests that the engine does not have, in the order of ds. It always
// asks the engine.
func (c *Client) FindMissing(ctx context.Context, ds []blob.Digest) ([]blob.Digest, error) {
	absent := make([]bool, len(ds))
	all := newLatch(len(ds))
	items := make([]*batchQuery, len(ds))
	for i, d := range ds {
		items[i] = &batchQuery{ctx, d, func(missing bool, err error) {
			absent[i] = missing
			all.countDown(err)
		}}
	}
	c.queries.add(items...)
	if err := all.wait(ctx); err != nil {
		return nil, err
	}
	var missing []blob.Digest
	for i, d := range ds {
		if absent[i] {
			missing = append(missing, d)
		}
	}
	return missing, nil
}

// queryBatch asks for all items in one request.
func (c *Client) queryBatch(items []*batchQuery) {
	items = dropCancelled(items, func(q *batchQuery) error { return q.ctx.Err() }, func(q *batchQuery, err error) { q.answer(false, err) })
	if len(items) == 0 {
		return
	}
	req := &repb.FindMissingBlobsRequest{InstanceName: c.o.Instance, DigestFunction: repb.DigestFunction_SHA256}
	for _, q := range items {
		req.BlobDigests = append(req.BlobDigests, q.d.Proto())
	}
	absent := map[string]bool{}
	err := c.retries().do(c.life, findingBlobs, func() error {
		reply, err := c.cas.FindMissingBlobs(c.life, req)
		for _, d := range reply.GetMissingBlobDigests() {
			absent[d.GetHash()] = true
		}
		return err
	})
	for i, q := range items {
		q.answer(absent[req.BlobDigests[i].GetHash()], err)
	}
}

// knownBlobs remembers which contents the engine has, and which are being sent. When it is full, it forgets all that
// the engine has: the next Upload asks again.
type knownBlobs struct {
	mu      sync.Mutex
	there   map[blob.Digest]struct{}
	most    int
	pending map[blob.Digest]*pendingUpload
}

// pendingUpload is a content that is being sent. Read err only after done is closed.
type pendingUpload struct {
	b         blob.Blob
	done      chan struct{}
	err       error
	batched   bool // it is in a batch, which settles it; only its sender uses this
	abandoned bool // its sender gave up, so another may send it
}

func newKnownBlobs(most int) *knownBlobs {
	return &knownBlobs{there: map[blob.Digest]struct{}{}, most: most, pending: map[blob.Digest]*pendingUpload{}}
}

// claim divides blobs into those that the caller must settle and those that others settle. It
// leaves out those that the engine has.
func (k *knownBlobs) claim(blobs []blob.Blob) (mine, others []*pendingUpload) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range blobs {
		if _, known := k.there[b.Digest]; known || b.Digest.Size == 0 {
			continue // every engine has the empty content
		}
		if u := k.pending[b.Digest]; u != nil {
			others = append(others, u)
			continue
		}
		u := &pendingUpload{b: b, done: make(chan struct{})}
		k.pending[b.Digest] = u
		mine = append(mine, u)
	}
	return mine, others
}

func (k *knownBlobs) settle(u *pendingUpload, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pending[u.b.Digest] != u {
		return // settled before
	}
	delete(k.pending, u.b.Digest)
	if u.err = err; err == nil {
		if len(k.there) >= k.most {
			clear(k.there)
		}
		k.there[u.b.Digest] = struct{}{}
	}
	close(u.done)
}

func (k *knownBlobs) abandon(u *pendingUpload, err error) {
	k.mu.Lock()
	if k.pending[u.b.Digest] == u {
		u.abandoned = true
	}
	k.mu.Unlock()
	k.settle(u, err)
}

func (k *knownBlobs) forget(ds []blob.Digest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(ds) == 0 {
		clear(k.there)
	}
	for _, d := range ds {
		delete(k.there, d)
	}
}
