package reapi

import (
	"context"
	"errors"
	"io"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
)

// batchedMax is the size, in bytes, up to which contents are read together in one request.
const batchedMax = 256 << 10

// outputReader reads a content that an action left. If the content is gone by then, the action
// is executed again.
type outputReader struct {
	run      *actionRun
	ctx      context.Context
	digest   blob.Digest
	body     io.ReadCloser // nil before and between attempts
	offset   int64
	attempts int
	err      error
}

func (o *outputReader) Read(p []byte) (int, error) {
	for o.err == nil {
		n, err := o.readOnce(p)
		o.offset += int64(n)
		if err == nil || n > 0 {
			return n, nil
		}
		o.err = o.reproduce(err)
	}
	return 0, o.err
}

func (o *outputReader) readOnce(p []byte) (int, error) {
	if o.body == nil {
		body, err := o.open()
		if err != nil {
			return 0, err
		}
		o.body = body
		if _, err := io.CopyN(io.Discard, body, o.offset); err != nil {
			return 0, err
		}
	}
	return o.body.Read(p)
}

func (o *outputReader) open() (io.ReadCloser, error) {
	c := o.run.engine.client
	if o.digest.Size > batchedMax {
		return c.Open(o.ctx, o.digest)
	}
	b, err := c.Read(o.ctx, o.digest)
	if err != nil {
		return nil, err
	}
	return blob.Of(b).Reader()
}

// reproduce returns nil if another attempt makes sense after err.
func (o *outputReader) reproduce(err error) error {
	if o.attempts++; !errors.As(err, new(*client.MissingError)) {
		return err
	}
	if o.attempts == attemptsMax {
		return exhausted(err)
	}
	o.closeBody()
	_, err = o.run.execute(o.ctx, true)
	return err
}

// ignoreMissing returns nil for the error of a content that the service does not have.
func ignoreMissing(err error) error {
	if m := (*client.MissingError)(nil); errors.As(err, &m) {
		return nil
	}
	return err
}

func (o *outputReader) closeBody() {
	if o.body != nil {
		_ = o.body.Close() // nothing was written
		o.body = nil
	}
}

func (o *outputReader) Close() error {
	o.closeBody()
	if o.err == nil {
		o.err = io.ErrClosedPipe
	}
	return nil
}
