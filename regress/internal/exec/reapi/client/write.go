package client

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
)

// chunk is how much of a content goes into one message of a stream.
const chunk = 256 << 10

// writing is a content that is sent by itself.
type writing struct {
	c      *Client
	b      blob.Blob
	name   string
	offset int64 // of the content, up to which the engine has it
	best   int64 // the furthest offset that counted as progress
}

// write sends a content in pieces. After a break it goes on where the engine says it is.
func (c *Client) write(ctx context.Context, b blob.Blob) error {
	w := &writing{c: c, b: b}
	w.rename()
	r := c.retries()
	return r.do(ctx, "sending a content", func() error {
		err := w.attempt(ctx)
		if err != nil && retryable(err) && ctx.Err() == nil && w.find(ctx) {
			r.progressed()
		}
		return err
	})
}

// A name is of one upload: what is sent from its beginning again needs another.
func (w *writing) rename() {
	kind := "blobs/"
	if w.c.limit.zstdStream {
		kind = "compressed-blobs/zstd/"
	}
	w.offset, w.name = 0, w.c.resource("uploads/"+uuid.NewString()+"/"+kind, w.b.Digest)
}

func (c *Client) resource(kind string, d blob.Digest) string {
	name := fmt.Sprintf("%s%s/%d", kind, d.Hash, d.Size)
	if c.o.Instance != "" {
		name = c.o.Instance + "/" + name
	}
	return name
}

// find asks how much arrived, and reports whether that is more than ever before, by so much
// that the attempt is no failed one. The offset of what is compressed on its way is one that
// only the engine can find again.
func (w *writing) find(ctx context.Context) bool {
	if !w.c.limit.zstdStream {
		reply, err := w.c.byteStream.QueryWriteStatus(ctx, &bytestream.QueryWriteStatusRequest{ResourceName: w.name})
		if n := reply.GetCommittedSize(); err == nil && n > 0 && n <= w.b.Digest.Size && !reply.GetComplete() {
			if w.offset = n; n-w.best < gainMin {
				return false
			}
			w.best = n
			return true
		}
	}
	w.rename()
	return false
}

func (w *writing) attempt(ctx context.Context) error {
	src, err := w.b.Reader()
	if err != nil {
		return err
	}
	defer src.Close()
	if _, err := io.CopyN(io.Discard, src, w.offset); err != nil {
		return err
	}
	guard := w.c.guard(ctx)
	defer guard.end()
	stream, err := w.c.byteStream.Write(guard.ctx)
	if err != nil {
		return guard.why(err)
	}
	out := &chunks{stream: stream, guard: guard, name: w.name, offset: w.offset}
	if err := w.send(out, src); err != nil && !errors.Is(err, io.EOF) {
		return guard.why(err)
	}
	reply, err := stream.CloseAndRecv()
	if status.Code(err) == codes.AlreadyExists {
		return nil
	}
	if err != nil {
		return guard.why(err)
	}
	// Of what is compressed an engine says its own figure, or -1 if it had the content.
	if n := reply.GetCommittedSize(); n != w.b.Digest.Size && n != -1 && !w.c.limit.zstdStream {
		return transient{fmt.Errorf("it has %d bytes of %d", n, w.b.Digest.Size)}
	}
	return nil
}

// send is io.EOF where the engine ended the stream, which then says why.
func (w *writing) send(out *chunks, src io.Reader) error {
	left := w.b.Digest.Size - w.offset
	var to io.Writer = out
	finish := out.finish
	if w.c.limit.zstdStream {
		zip := newEncoder(out)
		to, finish = zip, func() error { return errors.Join(zip.Close(), out.finish()) }
	}
	n, err := io.Copy(to, io.LimitReader(src, left))
	if err == nil && n < left {
		err = changed(w.b, w.offset+n)
	}
	if err != nil {
		return err
	}
	return finish()
}

// chunks is the stream as a writer.
type chunks struct {
	stream bytestream.ByteStream_WriteClient
	guard  *guard
	name   string // in the first message only
	offset int64
	buf    []byte
}

func (o *chunks) Write(p []byte) (n int, err error) {
	if o.buf == nil {
		o.buf = make([]byte, 0, chunk)
	}
	for n < len(p) {
		if len(o.buf) == cap(o.buf) {
			if err := o.flush(false); err != nil {
				return n, err
			}
		}
		k := min(len(p)-n, cap(o.buf)-len(o.buf))
		o.buf = append(o.buf, p[n:n+k]...)
		n += k
	}
	return n, nil
}

func (o *chunks) finish() error { return o.flush(true) }

func (o *chunks) flush(last bool) error {
	err := o.stream.Send(&bytestream.WriteRequest{ResourceName: o.name, WriteOffset: o.offset, Data: o.buf, FinishWrite: last})
	o.guard.progressed()
	o.offset += int64(len(o.buf))
	o.name, o.buf = "", o.buf[:0]
	return err
}
