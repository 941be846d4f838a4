package reapitest

import (
	"context"
	"regexp"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// messageMax is gRPC's default limit of a message, in bytes.
const messageMax = 4 << 20

// upload matches the name of an upload, which has a UUID of version 4.
var upload = regexp.MustCompile(`^(.+/)?uploads/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/(compressed-blobs/zstd|blobs)/[0-9a-f]{64}/[0-9]+$`)

// checkMetadata refuses a request without a client's metadata.
func checkMetadata(ctx context.Context) error {
	about := &repb.RequestMetadata{}
	sent := metadata.ValueFromIncomingContext(ctx, "build.bazel.remote.execution.v2.requestmetadata-bin")
	if len(sent) != 1 || proto.Unmarshal([]byte(sent[0]), about) != nil ||
		about.GetToolDetails().GetToolName() == "" || about.GetToolDetails().GetToolVersion() == "" || about.GetToolInvocationId() == "" {
		return status.Errorf(codes.InvalidArgument, "the request does not say who asks: %v", about)
	}
	return nil
}

// validate refuses a request that breaks the API's rules by itself.
func (e *Engine) validate(req any) error {
	if m, ok := req.(proto.Message); ok && proto.Size(m) > messageMax {
		return status.Errorf(codes.InvalidArgument, "a message of %d bytes", proto.Size(m))
	}
	if m, ok := req.(interface{ GetInstanceName() string }); ok && m.GetInstanceName() != e.o.Instance {
		return status.Errorf(codes.InvalidArgument, "no instance %q", m.GetInstanceName())
	}
	if m, ok := req.(interface {
		GetDigestFunction() repb.DigestFunction_Value
	}); ok && m.GetDigestFunction() != repb.DigestFunction_SHA256 {
		return status.Errorf(codes.InvalidArgument, "digests by %v", m.GetDigestFunction())
	}
	if m, ok := req.(*bytestream.WriteRequest); ok && m.GetResourceName() != "" && !upload.MatchString(m.GetResourceName()) {
		return status.Errorf(codes.InvalidArgument, "resource %q", m.GetResourceName())
	}
	return nil
}
