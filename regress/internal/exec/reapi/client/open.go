package client

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"

	"google.golang.org/genproto/googleapis/bytestream"

	"muster/regress/internal/exec/reapi/blob"
)

// Open returns a content as a stream. After a break it continues where it was. If the content
// does not match its digest, the stream ends with an error instead of io.EOF. If the engine
// lacks the content, the error wraps a MissingError. ctx applies to all reads.
func (c *Client) Open(ctx context.Context, d blob.Digest) (io.ReadCloser, error) {
	return &streamRead{c: c, ctx: ctx, d: d, sum: sha256.New(), tries: c.retries()}, nil
}

// streamRead reads one content. body is the stream of an attempt, or nil before and between
// attempts.
type streamRead struct {
	c      *Client
	ctx    context.Context
	d      blob.Digest
	sum    hash.Hash
	offset int64
	gained int64 // bytes of this attempt
	tries  *retries
	body   io.ReadCloser
	end    error
}

// gainMin is the progress in bytes below which an attempt counts as failed. Otherwise a stream
// that always breaks after one byte would go on for ever.
const gainMin = 128 << 10

func (r *streamRead) Read(p []byte) (int, error) {
	for r.end == nil && len(p) > 0 {
		if r.body == nil && r.offset < r.d.Size {
			r.body = r.c.stream(r.ctx, r.d, r.offset)
		}
		n, err := r.step(p)
		if n > 0 {
			r.sum.Write(p[:n])
			r.offset += int64(n)
			if r.gained += int64(n); r.gained >= gainMin {
				r.tries.progressed()
			}
		}
		if err != nil {
			r.stop(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, r.end
}

// step reads at most one byte beyond the expected end, to detect a longer content.
func (r *streamRead) step(p []byte) (int, error) {
	if r.body == nil {
		return 0, io.EOF
	}
	if left := r.d.Size - r.offset; int64(len(p))-1 > left {
		p = p[:left+1]
	}
	n, err := r.body.Read(p)
	if r.offset+int64(n) > r.d.Size {
		return 0, errDigest
	}
	return n, err
}

// stop ends an attempt. It ends the reading too, unless another attempt follows.
func (r *streamRead) stop(err error) {
	if r.body != nil {
		r.body.Close()
		r.body = nil
	}
	r.gained = 0
	switch {
	case err == io.EOF && r.offset < r.d.Size:
		err = transient{io.ErrUnexpectedEOF}
	case err == io.EOF && [sha256.Size]byte(r.sum.Sum(nil)) == r.d.Hash:
		r.end = io.EOF
		return
	case err == io.EOF:
		err = errDigest
	case blobGone(err):
		err = &MissingError{[]blob.Digest{r.d}, err}
	}
	r.end = r.tries.again(r.ctx, readingBlob, err)
}

func (r *streamRead) Close() error {
	if r.body != nil {
		r.body.Close()
		r.body = nil
	}
	if r.end == nil {
		r.end = io.ErrClosedPipe
	}
	return nil
}

// stream opens one attempt.
func (c *Client) stream(ctx context.Context, d blob.Digest, offset int64) io.ReadCloser {
	in := &chunkReader{watch: c.watchdog(ctx), room: compressedMax(d.Size - offset)}
	in.stream, in.err = c.byteStream.Read(in.watch.ctx, &bytestream.ReadRequest{ResourceName: c.resource("", d), ReadOffset: offset})
	if !c.limit.zstdStream {
		return in
	}
	return &zstdReader{newDecoder(in).IOReadCloser(), in}
}

// compressedMax is the largest compressed size of a content: compression hardly makes it
// larger.
func compressedMax(size int64) int64 { return size + size/64 + 1<<20 }

// chunkReader makes a reader of the stream.
type chunkReader struct {
	watch  *watchdog
	room   int64 // bytes that may still come
	stream bytestream.ByteStream_ReadClient
	rest   []byte
	err    error
}

func (s *chunkReader) Read(p []byte) (int, error) {
	for len(s.rest) == 0 && s.err == nil {
		var reply *bytestream.ReadResponse
		if reply, s.err = s.stream.Recv(); len(reply.GetData()) == 0 {
			continue // this is no progress
		}
		s.watch.progressed()
		s.rest = reply.GetData()
		if s.room -= int64(len(s.rest)); s.room < 0 {
			s.rest, s.err = nil, errDigest
		}
	}
	if len(s.rest) > 0 {
		n := copy(p, s.rest)
		s.rest = s.rest[n:]
		return n, nil
	}
	return 0, s.watch.cause(s.err)
}

func (s *chunkReader) Close() error {
	s.watch.end()
	return nil
}

type zstdReader struct {
	io.ReadCloser
	in *chunkReader
}

// Read returns the stream's own error. Invalid zstd counts as a temporary failure.
func (u *zstdReader) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = transient{errDigest}
		if cut := u.in.err; cut != nil && cut != io.EOF {
			err = u.in.watch.cause(cut)
		}
	}
	return n, err
}

func (u *zstdReader) Close() error {
	u.ReadCloser.Close()
	return u.in.Close()
}
