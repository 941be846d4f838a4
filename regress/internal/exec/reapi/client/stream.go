package client

import (
	"bytes"
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
// callers read. For all callers together it reads large ones, such as lists of very many files,
// up to 128 MiB at once; a returned content belongs to its caller. The error wraps a
// MissingError if the engine does not have the content.
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
		return c.readLarge(ctx, d)
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

func (c *Client) readLarge(ctx context.Context, d blob.Digest) ([]byte, error) {
	if err := c.largeReads.Acquire(ctx, d.Size); err != nil {
		return nil, err
	}
	defer c.largeReads.Release(d.Size)
	r, err := c.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var data bytes.Buffer
	if _, err = io.CopyN(&data, r, 1); err == nil { // allocates nothing before the engine has sent something
		data.Grow(int(d.Size) + bytes.MinRead) // avoids the double memory of growing by copies
		_, err = data.ReadFrom(r)
	}
	return data.Bytes(), err
}

// blobGone reports whether the engine lacks a content, or a part of it, that it reported as
// present.
func blobGone(err error) bool {
	code := status.Code(err)
	return code == codes.NotFound || code == codes.DataLoss
}

// chunkSize is the number of bytes of a content in one message of a stream.
const chunkSize = 256 << 10

// streamUpload is a content that is sent by itself.
type streamUpload struct {
	c      *Client
	b      blob.Blob
	name   string
	offset int64 // the engine has the content up to this offset
	best   int64 // the largest offset that counted as progress
}

// write sends a content in pieces. After a break it continues at the engine's offset.
func (c *Client) write(ctx context.Context, b blob.Blob) error {
	u := &streamUpload{c: c, b: b}
	u.newName()
	r := c.retries()
	return r.do(ctx, sendingBlob, func() error {
		err := u.attempt(ctx)
		if err != nil && retryable(err) && ctx.Err() == nil && u.queryOffset(ctx) {
			r.progressed()
		}
		return err
	})
}

// newName gives the upload a new name, which an upload from the beginning needs.
func (u *streamUpload) newName() {
	u.offset, u.name = 0, u.c.resource("uploads/"+uuid.NewString()+"/", u.b.Digest)
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

// queryOffset asks how much has arrived. It reports whether that is so much more than ever
// before that the attempt does not count as failed. Only the engine can find the offset of a
// compressed content again.
func (u *streamUpload) queryOffset(ctx context.Context) bool {
	if !u.c.limit.zstdStream {
		reply, err := u.c.byteStream.QueryWriteStatus(ctx, &bytestream.QueryWriteStatusRequest{ResourceName: u.name})
		if n := reply.GetCommittedSize(); err == nil && n > 0 && n <= u.b.Digest.Size && !reply.GetComplete() {
			if u.offset = n; n-u.best < gainMin {
				return false
			}
			u.best = n
			return true
		}
	}
	u.newName()
	return false
}

func (u *streamUpload) attempt(ctx context.Context) error {
	src, err := u.b.Reader()
	if err != nil {
		return err
	}
	defer src.Close()
	if _, err := io.CopyN(io.Discard, src, u.offset); err != nil {
		return err
	}
	watch := u.c.watchdog(ctx)
	defer watch.end()
	stream, err := u.c.byteStream.Write(watch.ctx)
	if err != nil {
		return watch.cause(err)
	}
	out := &chunkWriter{stream: stream, watch: watch, name: u.name, offset: u.offset}
	if err := u.send(out, src); err != nil && !errors.Is(err, io.EOF) {
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
	if n := reply.GetCommittedSize(); n != u.b.Digest.Size && n != -1 && !u.c.limit.zstdStream {
		return transient{fmt.Errorf("it has %s of %s", readable.Number(n), readable.Count(u.b.Digest.Size, "byte"))}
	}
	return nil
}

// send returns io.EOF if the engine ended the stream; the stream has the reason
func (u *streamUpload) send(out *chunkWriter, src io.Reader) error {
	left := u.b.Digest.Size - u.offset
	var to io.Writer = out
	finish := out.finish
	if u.c.limit.zstdStream {
		zip := newEncoder(out)
		to, finish = zip, func() error { return errors.Join(zip.Close(), out.finish()) }
	}
	n, err := io.Copy(to, io.LimitReader(src, left))
	if err == nil && n < left {
		err = changed(u.b, u.offset+n)
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
