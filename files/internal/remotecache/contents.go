package remotecache

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"connectrpc.com/connect"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/genproto/googleapis/rpc/status"

	"muster/fileio"
	"muster/pool"
)

// contentWorkers is how many contents of one request are looked up, read or written at a time.
const contentWorkers = 8

// forEach calls do with the indexes below n.
func forEach(ctx context.Context, n int, do func(context.Context, int) error) error {
	indexes := make([]int32, n)
	for i := range indexes {
		indexes[i] = int32(i)
	}
	return pool.ForEach(ctx, contentWorkers, indexes, func(ctx context.Context, i int32) error { return do(ctx, int(i)) })
}

func (c *Cache) findMissing(ctx context.Context, r *repb.FindMissingBlobsRequest) (*repb.FindMissingBlobsResponse, error) {
	if err := errors.Join(checkInstance(r.GetInstanceName()), checkFunction(r.GetDigestFunction())); err != nil {
		return nil, err
	}
	at, list := instance(r.GetInstanceName()), r.GetBlobDigests()
	missing := make([]bool, len(list))
	err := forEach(ctx, len(list), func(ctx context.Context, i int) error {
		d, err := parseDigest(list[i])
		if err != nil {
			return err
		}
		here, err := c.has(ctx, at, d)
		missing[i] = !here
		return err
	})
	if err != nil {
		return nil, err
	}
	answer := &repb.FindMissingBlobsResponse{}
	for i, m := range list {
		if missing[i] {
			answer.MissingBlobDigests = append(answer.MissingBlobDigests, m)
		}
	}
	return answer, nil
}

func (c *Cache) batchUpdate(ctx context.Context, r *repb.BatchUpdateBlobsRequest) (*repb.BatchUpdateBlobsResponse, error) {
	if err := errors.Join(checkInstance(r.GetInstanceName()), checkFunction(r.GetDigestFunction())); err != nil {
		return nil, err
	}
	sum := int64(0)
	for _, one := range r.GetRequests() {
		sum += int64(len(one.GetData()))
	}
	if err := checkBatch(sum); err != nil {
		return nil, err
	}
	at, list := instance(r.GetInstanceName()), r.GetRequests()
	answer := &repb.BatchUpdateBlobsResponse{Responses: make([]*repb.BatchUpdateBlobsResponse_Response, len(list))}
	return answer, forEach(ctx, len(list), func(ctx context.Context, i int) error {
		answer.Responses[i] = &repb.BatchUpdateBlobsResponse_Response{Digest: list[i].GetDigest(), Status: c.statusOf(c.update(ctx, at, list[i]))}
		return ctx.Err()
	})
}

func checkBatch(sum int64) error {
	if sum > batchMax || sum < 0 {
		return invalid("the contents of the batch have more than %d bytes together: send or read larger ones with ByteStream", batchMax)
	}
	return nil
}

func (c *Cache) update(ctx context.Context, at instance, r *repb.BatchUpdateBlobsRequest_Request) error {
	d, err := parseDigest(r.GetDigest())
	switch {
	case err != nil:
		return err
	case r.GetCompressor() != repb.Compressor_IDENTITY:
		return invalid("compressed contents are not supported")
	case digestOf(r.GetData()) != d:
		return errDigest
	}
	here, err := c.has(ctx, at, d)
	if here || err != nil {
		return err
	}
	_, err = c.store.Put(ctx, at.content(d), bytes.NewReader(r.GetData()), d.size, nil)
	return err
}

// errDigest is the error of data that is not the announced content.
var errDigest = invalid("the data does not have the announced SHA-256 or size")

// statusOf returns the status of one content of a batch.
func (c *Cache) statusOf(err error) *status.Status {
	if err == nil {
		return &status.Status{}
	}
	answer, ok := errors.AsType[*connect.Error](c.fail("", err))
	if !ok {
		return &status.Status{Code: int32(connect.CodeInternal), Message: err.Error()}
	}
	return &status.Status{Code: int32(answer.Code()), Message: answer.Message()}
}

func (c *Cache) batchRead(ctx context.Context, r *repb.BatchReadBlobsRequest) (*repb.BatchReadBlobsResponse, error) {
	if err := errors.Join(checkInstance(r.GetInstanceName()), checkFunction(r.GetDigestFunction())); err != nil {
		return nil, err
	}
	sum := int64(0)
	for _, m := range r.GetDigests() {
		if sum += max(m.GetSizeBytes(), 0); sum > batchMax {
			break
		}
	}
	if err := checkBatch(sum); err != nil {
		return nil, err
	}
	if err := enlarge(ctx); err != nil {
		return nil, err
	}
	at, list := instance(r.GetInstanceName()), r.GetDigests()
	answer := &repb.BatchReadBlobsResponse{Responses: make([]*repb.BatchReadBlobsResponse_Response, len(list))}
	return answer, forEach(ctx, len(list), func(ctx context.Context, i int) error {
		d, err := parseDigest(list[i])
		var data []byte
		if err == nil {
			data, err = c.content(ctx, at, d)
		}
		answer.Responses[i] = &repb.BatchReadBlobsResponse_Response{Digest: list[i], Data: data, Status: c.statusOf(err)}
		return ctx.Err()
	})
}

// open opens a content. Close it after use. It is nil for the empty content.
func (c *Cache) open(ctx context.Context, at instance, d digest) (*fileio.File, error) {
	f, err := c.store.Get(ctx, at.content(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMissing
	}
	if err != nil {
		return nil, err
	}
	if f.Size != d.size {
		f.Close()
		return nil, errMissing
	}
	return f, nil
}

// content reads a content into memory, for which the request must have room.
func (c *Cache) content(ctx context.Context, at instance, d digest) ([]byte, error) {
	if d == empty {
		return nil, nil
	}
	f, err := c.open(ctx, at, d)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(ctx, f)
}

func readAll(ctx context.Context, f *fileio.File) ([]byte, error) {
	data := bytes.NewBuffer(make([]byte, 0, f.Size))
	err := f.CopyTo(ctx, data, 0, f.Size)
	return data.Bytes(), err
}

// fileReader reads an open file from its beginning on.
type fileReader struct {
	ctx  context.Context
	file *fileio.File
	at   int64
}

func (r *fileReader) Read(p []byte) (int, error) {
	n := min(int64(len(p)), r.file.Size-r.at)
	if n <= 0 {
		return 0, io.EOF
	}
	if err := r.file.CopyTo(r.ctx, bytes.NewBuffer(p[:0]), r.at, n); err != nil {
		return 0, err
	}
	r.at += n
	return int(n), nil
}

// pieceMax is how many bytes of a content an answer of a stream has.
const pieceMax = 64 << 10

func (c *Cache) read(ctx context.Context, r *bytestream.ReadRequest, stream *connect.ServerStream[bytestream.ReadResponse]) error {
	at, d, err := parseResource(r.GetResourceName(), false)
	if err != nil {
		return err
	}
	offset, limit := r.GetReadOffset(), r.GetReadLimit()
	switch {
	case offset < 0 || offset > d.size:
		return refuse(connect.CodeOutOfRange, "offset %d is outside of the content of %d bytes", offset, d.size)
	case limit < 0:
		return invalid("limit %d is negative: 0 is no limit", limit)
	case limit == 0:
		limit = d.size
	}
	if d == empty {
		return nil
	}
	f, err := c.open(ctx, at, d)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.CopyTo(ctx, &pieceWriter{stream: stream}, offset, min(limit, d.size-offset))
}

// pieceWriter sends the data written to it in pieces.
type pieceWriter struct {
	stream *connect.ServerStream[bytestream.ReadResponse]
	answer bytestream.ReadResponse
}

func (w *pieceWriter) Write(data []byte) (written int, err error) {
	for written < len(data) {
		w.answer.Data = data[written:min(written+pieceMax, len(data))]
		if err := w.stream.Send(&w.answer); err != nil {
			return written, err
		}
		written += len(w.answer.Data)
	}
	return written, nil
}
