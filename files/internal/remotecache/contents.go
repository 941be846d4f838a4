package remotecache

import (
	"bytes"
	"context"
	"errors"

	"connectrpc.com/connect"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/rpc/status"
)

// contents answers requests for contents in single messages.
type contents struct {
	blobs
	fail func(error) error // converts an error to an answer
}

func (c contents) findMissing(ctx context.Context, r *repb.FindMissingBlobsRequest) (*repb.FindMissingBlobsResponse, error) {
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

func (c contents) batchUpdate(ctx context.Context, r *repb.BatchUpdateBlobsRequest) (*repb.BatchUpdateBlobsResponse, error) {
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

func (c contents) update(ctx context.Context, at instance, r *repb.BatchUpdateBlobsRequest_Request) error {
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
func (c contents) statusOf(err error) *status.Status {
	if err == nil {
		return &status.Status{}
	}
	answer, ok := errors.AsType[*connect.Error](c.fail(err))
	if !ok {
		return &status.Status{Code: int32(connect.CodeInternal), Message: err.Error()}
	}
	return &status.Status{Code: int32(answer.Code()), Message: answer.Message()}
}

func (c contents) batchRead(ctx context.Context, r *repb.BatchReadBlobsRequest) (*repb.BatchReadBlobsResponse, error) {
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
