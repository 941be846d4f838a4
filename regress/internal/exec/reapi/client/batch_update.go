package client

import (
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
)

// compressMin is the size, in bytes, below which compression gains nothing.
const compressMin = 512

// batchUpload is a small content to send.
type batchUpload struct {
	d      blob.Digest
	data   []byte
	settle func(error)
}

func batchUploadCost(u *batchUpload) int64 { return u.d.Size + aroundBlob }

// updateBatch sends items in one request, and repeats it for those that the engine postpones.
func (c *Client) updateBatch(items []*batchUpload) {
	left := items
	err := c.retries().do(c.life, sendingBlobs, func() (err error) {
		left, err = c.updateBatchOnce(left)
		return err
	})
	for _, u := range left {
		u.settle(err)
	}
}

// updateBatchOnce returns the items that may be tried again, with an error if there are any.
func (c *Client) updateBatchOnce(items []*batchUpload) ([]*batchUpload, error) {
	reply, err := c.cas.BatchUpdateBlobs(c.life, c.updateRequest(items))
	if err != nil {
		return items, err
	}
	statuses := map[blob.Digest]*status.Status{}
	for _, r := range reply.GetResponses() {
		statuses[digestOf(r.GetDigest())] = status.FromProto(r.GetStatus())
	}
	var left []*batchUpload
	for _, u := range items {
		s, ok := statuses[u.d]
		if !ok {
			left, err = append(left, u), transient{errNoAnswer}
			continue
		}
		switch e := s.Err(); {
		case e == nil || s.Code() == codes.AlreadyExists:
			u.settle(nil)
		case retryable(e):
			left, err = append(left, u), e
		default:
			u.settle(c.failed(sendingBlobs, e))
		}
	}
	return left, err
}

func (c *Client) updateRequest(items []*batchUpload) *repb.BatchUpdateBlobsRequest {
	req := &repb.BatchUpdateBlobsRequest{InstanceName: c.o.Instance, DigestFunction: repb.DigestFunction_SHA256}
	for _, u := range items {
		one := &repb.BatchUpdateBlobsRequest_Request{Digest: u.d.Proto(), Data: u.data}
		if c.encoder != nil && len(u.data) >= compressMin {
			if packed := c.encoder.EncodeAll(u.data, nil); len(packed) < len(u.data) {
				one.Data, one.Compressor = packed, repb.Compressor_ZSTD
			}
		}
		req.Requests = append(req.Requests, one)
	}
	return req
}
