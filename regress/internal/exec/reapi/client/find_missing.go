package client

import (
	"context"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
)

// aroundBlob is what a digest takes in a message, and what is around it, at most.
const aroundBlob = 128

// lookup asks whether the engine has one content.
type lookup struct {
	ctx    context.Context // of who asks
	d      blob.Digest
	answer func(missing bool, err error)
}

func lookupCost(*lookup) int64 { return aroundBlob }

// FindMissing returns those that the engine has not, in the order of ds. It always asks.
func (c *Client) FindMissing(ctx context.Context, ds []blob.Digest) ([]blob.Digest, error) {
	absent := make([]bool, len(ds))
	all := newLatch(len(ds))
	items := make([]*lookup, len(ds))
	for i, d := range ds {
		items[i] = &lookup{ctx, d, func(missing bool, err error) {
			absent[i] = missing
			all.countDown(err)
		}}
	}
	c.lookups.add(items...)
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

// lookUpBatch is one request for all of items.
func (c *Client) lookUpBatch(items []*lookup) {
	items = dropCancelled(items, func(l *lookup) error { return l.ctx.Err() }, func(l *lookup, err error) { l.answer(false, err) })
	if len(items) == 0 {
		return
	}
	req := &repb.FindMissingBlobsRequest{InstanceName: c.o.Instance, DigestFunction: repb.DigestFunction_SHA256}
	for _, l := range items {
		req.BlobDigests = append(req.BlobDigests, l.d.Proto())
	}
	absent := map[string]bool{}
	err := c.retries().do(c.life, "asking for contents", func() error {
		reply, err := c.cas.FindMissingBlobs(c.life, req)
		for _, d := range reply.GetMissingBlobDigests() {
			absent[d.GetHash()] = true
		}
		return err
	})
	for _, l := range items {
		l.answer(absent[l.d.Hash.String()], err)
	}
}

// dropCancelled answers those of items whose asker has given up, and returns the others.
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

// digestOf reads a digest of an answer; one that is none equals no digest of a caller.
func digestOf(m *repb.Digest) blob.Digest {
	d, err := blob.FromProto(m)
	if err != nil {
		return blob.Digest{Size: -1}
	}
	return d
}
