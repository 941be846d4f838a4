package client

import (
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
)

// Below this a content gains nothing by compression.
const zipMin = 512

// parcel is a small content to send.
type parcel struct {
	d      blob.Digest
	data   []byte
	settle func(error)
}

func parcelCost(p *parcel) int64 { return p.d.Size + aroundBlob }

// deliver sends parcels in one request, and those again that the engine puts off.
func (c *Client) deliver(parcels []*parcel) {
	left := parcels
	err := c.retries().do(c.life, "sending contents", func() (err error) {
		left, err = c.deliverOnce(left)
		return err
	})
	for _, p := range left {
		p.settle(err)
	}
}

// deliverOnce returns those that may be tried again, with an error if there are some.
func (c *Client) deliverOnce(parcels []*parcel) ([]*parcel, error) {
	reply, err := c.cas.BatchUpdateBlobs(c.life, c.batchOf(parcels))
	if err != nil {
		return parcels, err
	}
	said := map[blob.Digest]*status.Status{}
	for _, r := range reply.GetResponses() {
		said[digestOf(r.GetDigest())] = status.FromProto(r.GetStatus())
	}
	var left []*parcel
	for _, p := range parcels {
		s, ok := said[p.d]
		if !ok {
			left, err = append(left, p), transient{errNoAnswer}
			continue
		}
		switch e := s.Err(); {
		case e == nil || s.Code() == codes.AlreadyExists:
			p.settle(nil)
		case passes(e):
			left, err = append(left, p), e
		default:
			p.settle(c.failed("sending contents", e))
		}
	}
	return left, err
}

func (c *Client) batchOf(parcels []*parcel) *repb.BatchUpdateBlobsRequest {
	req := &repb.BatchUpdateBlobsRequest{InstanceName: c.o.Instance, DigestFunction: repb.DigestFunction_SHA256}
	for _, p := range parcels {
		one := &repb.BatchUpdateBlobsRequest_Request{Digest: p.d.Proto(), Data: p.data}
		if c.zip != nil && len(p.data) >= zipMin {
			if packed := c.zip.EncodeAll(p.data, nil); len(packed) < len(p.data) {
				one.Data, one.Compressor = packed, repb.Compressor_ZSTD
			}
		}
		req.Requests = append(req.Requests, one)
	}
	return req
}
