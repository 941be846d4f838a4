package client

import (
	"context"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
)

// header is what goes with every request beside its message, and its deadline.
type header struct{ o Options }

type actionKey struct{}

// ofAction marks the requests under ctx as being for one action.
func ofAction(ctx context.Context, d blob.Digest) context.Context {
	return context.WithValue(ctx, actionKey{}, d.Hash.String())
}

func (h *header) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(h.put(ctx), h.o.Deadline)
	defer cancel()
	return invoke(ctx, method, req, reply, conn, opts...)
}

func (h *header) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return open(h.put(ctx), desc, conn, method, opts...)
}

func (h *header) put(ctx context.Context) context.Context {
	action, _ := ctx.Value(actionKey{}).(string)
	about, err := proto.Marshal(&repb.RequestMetadata{
		ToolDetails:      &repb.ToolDetails{ToolName: "muster", ToolVersion: h.o.Version},
		ActionId:         action,
		ToolInvocationId: h.o.Invocation,
	})
	// Only text that is no UTF-8 fails, and the engine can do without.
	if err != nil {
		about = nil
	}
	pairs := []string{"build.bazel.remote.execution.v2.requestmetadata-bin", string(about)}
	if h.o.Token != "" {
		pairs = append(pairs, "authorization", "Bearer "+h.o.Token)
	}
	for _, l := range h.o.Headers {
		pairs = append(pairs, l.Name, l.Value)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}
