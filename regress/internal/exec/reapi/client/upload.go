package client

import (
	"context"
	"io"

	"muster/internal/readable"
	"muster/pool"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

// partMax is the number of contents that an Upload handles at once.
const partMax = 4096

// Upload returns when the engine has all blobs. It sends those that the engine reports as
// missing, each only once for all callers, and remembers those that are present. Contents in
// memory must not change. In addition it holds at most 32 MiB for all callers.
func (c *Client) Upload(ctx context.Context, blobs []blob.Blob) error {
	for len(blobs) > 0 {
		n := min(len(blobs), partMax)
		if err := c.uploadPart(ctx, blobs[:n]); err != nil {
			return err
		}
		blobs = blobs[n:]
	}
	return nil
}

func (c *Client) uploadPart(ctx context.Context, blobs []blob.Blob) error {
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

func (u *pendingUpload) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-u.done:
		return u.err
	}
}

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
