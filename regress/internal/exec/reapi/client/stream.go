package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/internal/readable"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

var errDigest = errors.New("what it sent has another digest than what was asked for")

// readMax is the largest content, in bytes, that is read whole.
const readMax = 64 << 20

// Read returns a whole content, of up to 64 MiB. It is best for small contents that many
// callers read. A returned content belongs to its caller. The error wraps a MissingError if the engine does not have
// the content.
func (c *Client) Read(ctx context.Context, d blob.Digest) ([]byte, error) {
	return c.ReadWithin(ctx, d, 0)
}

// ReadWithin is like Read but may wait up to d to share a batch.
func (c *Client) ReadWithin(ctx context.Context, d blob.Digest, wait time.Duration) ([]byte, error) {
	if d.Size == 0 {
		return nil, nil
	}
	if d.Size > readMax {
		return nil, fault.Environmentf("engine %s, reading a content: it has %s, and %s are possible here", c.o.URL, readable.Count(d.Size, "byte"), readable.Number(int64(readMax)))
	}
	if d.Size > c.limit.small {
		r, err := c.Open(ctx, d)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
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

// blobGone reports whether the engine lacks a content, or a part of it, that it reported as
// present.
func blobGone(err error) bool {
	code := status.Code(err)
	return code == codes.NotFound || code == codes.DataLoss
}

// chunkSize is the number of bytes of a content in one message of a stream.
const chunkSize = 256 << 10

// write sends a content in pieces. After a break it sends the content again.
func (c *Client) write(ctx context.Context, b blob.Blob) error {
	return c.retries().do(ctx, sendingBlob, func() error { return c.writeOnce(ctx, b) })
}

// resource returns the name of the content in streams, with its compression.
func (c *Client) resource(upload string, d blob.Digest) string {
	kind := "blobs"
	if c.limit.zstdStream {
		kind = "compressed-blobs/zstd"
	}
	name := fmt.Sprintf("%s%s/%s/%d", upload, kind, d.Hash, d.Size)
	if c.o.Instance != "" {
		name = c.o.Instance + "/" + name
	}
	return name
}

// writeOnce sends a content under a new name.
func (c *Client) writeOnce(ctx context.Context, b blob.Blob) error {
	src, err := b.Reader()
	if err != nil {
		return err
	}
	defer src.Close()
	watch := c.watchdog(ctx)
	defer watch.end()
	stream, err := c.byteStream.Write(watch.ctx)
	if err != nil {
		return watch.cause(err)
	}
	out := &chunkWriter{stream: stream, watch: watch, name: c.resource("uploads/"+uuid.NewString()+"/", b.Digest)}
	if err := c.copyTo(out, b, src); err != nil && !errors.Is(err, io.EOF) {
		return watch.cause(err)
	}
	reply, err := stream.CloseAndRecv()
	if status.Code(err) == codes.AlreadyExists {
		return nil
	}
	if err != nil {
		return watch.cause(err)
	}
	// for compressed data an engine returns its own figure, or -1 if it had the content
	if n := reply.GetCommittedSize(); n != b.Digest.Size && n != -1 && !c.limit.zstdStream {
		return transient{fmt.Errorf("it has %s of %s", readable.Number(n), readable.Count(b.Digest.Size, "byte"))}
	}
	return nil
}

// copyTo returns io.EOF if the engine ended the stream; the stream has the reason
func (c *Client) copyTo(out *chunkWriter, b blob.Blob, src io.Reader) error {
	var to io.Writer = out
	finish := out.finish
	if c.limit.zstdStream {
		zip := newEncoder(out)
		to, finish = zip, func() error { return errors.Join(zip.Close(), out.finish()) }
	}
	n, err := io.Copy(to, io.LimitReader(src, b.Digest.Size))
	if err == nil && n < b.Digest.Size {
		err = changed(b, n)
	}
	if err != nil {
		return err
	}
	return finish()
}

// chunkWriter makes a writer of the stream.
type chunkWriter struct {
	stream bytestream.ByteStream_WriteClient
	watch  *watchdog
	name   string // only in the first message
	offset int64
	buf    []byte
}

func (o *chunkWriter) Write(p []byte) (n int, err error) {
	if o.buf == nil {
		o.buf = make([]byte, 0, chunkSize)
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

func (o *chunkWriter) finish() error { return o.flush(true) }

func (o *chunkWriter) flush(last bool) error {
	err := o.stream.Send(&bytestream.WriteRequest{ResourceName: o.name, WriteOffset: o.offset, Data: o.buf, FinishWrite: last})
	o.watch.progressed()
	o.offset += int64(len(o.buf))
	o.name, o.buf = "", o.buf[:0]
	return err
}

// windowMax is the largest window of a decoder in bytes, so that an engine cannot exhaust the
// memory.
const windowMax = 32 << 20

// neither constructor fails with these options: they only check the options

func newEncoder(w io.Writer) *zstd.Encoder {
	zip, _ := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	return zip
}

func newDecoder(r io.Reader) *zstd.Decoder {
	zip, _ := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(windowMax), zstd.WithDecodeAllCapLimit(true))
	return zip
}
