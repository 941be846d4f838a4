package client

import (
	"context"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
)

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
	for _, q := range items {
		q.answer(absent[q.d.Hash.String()], err)
	}
}
