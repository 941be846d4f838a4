package client

import (
	"context"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// interceptors add metadata and a deadline to every request.
type interceptors struct{ o Options }

type actionKey struct{}

// targetMax bounds the description of an action, in bytes, because proxies have little room for
// headers.
const targetMax = 200

// ofAction marks the requests under ctx as belonging to one action.
func ofAction(ctx context.Context, x Execution) context.Context {
	return context.WithValue(ctx, actionKey{}, x)
}

func (i interceptors) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(i.put(ctx), i.o.Deadline)
	defer cancel()
	return invoke(ctx, method, req, reply, conn, opts...)
}

func (i interceptors) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return open(i.put(ctx), desc, conn, method, opts...)
}

func (i interceptors) put(ctx context.Context) context.Context {
	m := &repb.RequestMetadata{
		ToolDetails:      &repb.ToolDetails{ToolName: "muster", ToolVersion: i.o.Version},
		ToolInvocationId: i.o.Invocation,
	}
	if x, ok := ctx.Value(actionKey{}).(Execution); ok {
		m.ActionId, m.TargetId = x.Action.Hash.String(), strings.ToValidUTF8(x.Target[:min(len(x.Target), targetMax)], "")
	}
	about, err := proto.Marshal(m)
	// only text that is not UTF-8 fails, and the engine can do without it
	if err != nil {
		about = nil
	}
	pairs := []string{"build.bazel.remote.execution.v2.requestmetadata-bin", string(about)}
	if i.o.Token != "" {
		pairs = append(pairs, "authorization", "Bearer "+i.o.Token)
	}
	for _, l := range i.o.Headers {
		pairs = append(pairs, l.Name, l.Value)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}
