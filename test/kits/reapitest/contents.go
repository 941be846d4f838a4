package reapitest

import (
	"cmp"
	"context"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Put stores a content.
func (e *Engine) Put(data []byte) Digest {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := DigestOf(data)
	if _, ok := e.contents[d]; !ok {
		e.contents[d] = data
	}
	return d
}

// Get returns a content.
func (e *Engine) Get(d Digest) ([]byte, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	data, ok := e.contents[d]
	return data, ok || d.Size == 0
}

// Evict drops the named contents, or all.
func (e *Engine) Evict(ds ...Digest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(ds) == 0 {
		clear(e.contents)
	}
	for _, d := range ds {
		delete(e.contents, d)
	}
}

// store verifies a content and keeps it.
func (e *Engine) store(d Digest, data []byte, packed bool) error {
	if packed {
		var err error
		if data, err = e.unzip.DecodeAll(data, nil); err != nil {
			return status.Errorf(codes.InvalidArgument, "zstd: %v", err)
		}
	}
	if DigestOf(data) != d {
		return status.Errorf(codes.InvalidArgument, "%d bytes have another digest than %s", len(data), d.Hash)
	}
	e.Put(append([]byte(nil), data...))
	return nil
}

// load returns a content as it is sent, after Options.Lie.
func (e *Engine) load(d Digest, packed bool) ([]byte, error) {
	data, ok := e.Get(d)
	if !ok {
		return nil, status.Errorf(codes.NotFound, "no content %s", d.Hash)
	}
	if e.o.Lie != nil {
		data = e.o.Lie(d, data)
	}
	if packed {
		return e.zip.EncodeAll(data, nil), nil
	}
	return data, nil
}

// FindMissingBlobs implements the API.
func (e *Engine) FindMissingBlobs(_ context.Context, req *repb.FindMissingBlobsRequest) (*repb.FindMissingBlobsResponse, error) {
	reply := &repb.FindMissingBlobsResponse{}
	for _, m := range req.GetBlobDigests() {
		d, err := digestOf(m)
		if err != nil {
			return nil, err
		}
		if _, ok := e.Get(d); !ok {
			reply.MissingBlobDigests = append(reply.MissingBlobDigests, m)
		}
	}
	return reply, nil
}

// BatchUpdateBlobs implements the API.
func (e *Engine) BatchUpdateBlobs(_ context.Context, req *repb.BatchUpdateBlobsRequest) (*repb.BatchUpdateBlobsResponse, error) {
	reply, sum := &repb.BatchUpdateBlobsResponse{}, int64(0)
	for _, r := range req.GetRequests() {
		sum += r.GetDigest().GetSizeBytes()
		d, err := digestOf(r.GetDigest())
		if err = cmp.Or(err, e.refuses("BatchUpdateBlobs", d)); err == nil {
			err = e.store(d, r.GetData(), r.GetCompressor() == repb.Compressor_ZSTD)
		}
		reply.Responses = append(reply.Responses, &repb.BatchUpdateBlobsResponse_Response{Digest: r.GetDigest(), Status: status.Convert(err).Proto()})
	}
	return reply, e.within(sum)
}

func (e *Engine) refuses(method string, d Digest) error {
	if e.o.Refuse == nil {
		return nil
	}
	return e.o.Refuse(method, d)
}

func (e *Engine) within(sum int64) error {
	if e.o.BatchMax > 0 && sum > e.o.BatchMax {
		return status.Errorf(codes.InvalidArgument, "%d bytes in a batch, and %d is the limit", sum, e.o.BatchMax)
	}
	return nil
}

// BatchReadBlobs implements the API.
func (e *Engine) BatchReadBlobs(_ context.Context, req *repb.BatchReadBlobsRequest) (*repb.BatchReadBlobsResponse, error) {
	packed := len(req.GetAcceptableCompressors()) > 0
	reply, sum := &repb.BatchReadBlobsResponse{}, int64(0)
	for _, m := range req.GetDigests() {
		r := &repb.BatchReadBlobsResponse_Response{Digest: m}
		d, err := digestOf(m)
		if err = cmp.Or(err, e.refuses("BatchReadBlobs", d)); err == nil {
			r.Data, err = e.load(d, packed)
		}
		if r.Status = status.Convert(err).Proto(); packed && err == nil {
			r.Compressor = repb.Compressor_ZSTD
		}
		sum += m.GetSizeBytes()
		reply.Responses = append(reply.Responses, r)
	}
	return reply, e.within(sum)
}
