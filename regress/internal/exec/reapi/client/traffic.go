package client

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// traffic counts the bytes of messages and headers as gRPC puts them on the network.
type traffic struct{ sent, received atomic.Int64 }

var _ stats.Handler = (*traffic)(nil)

// Traffic returns the bytes that were sent to the engine and received from it so far.
func (c *Client) Traffic() (sent, received int64) {
	return c.traffic.sent.Load(), c.traffic.received.Load()
}

// HandleRPC implements stats.Handler. gRPC does not measure headers that are sent.
func (t *traffic) HandleRPC(_ context.Context, one stats.RPCStats) {
	switch one := one.(type) {
	case *stats.OutPayload:
		t.sent.Add(int64(one.WireLength))
	case *stats.InPayload:
		t.received.Add(int64(one.WireLength))
	case *stats.InHeader:
		t.received.Add(int64(one.WireLength))
	case *stats.InTrailer:
		t.received.Add(int64(one.WireLength))
	}
}

// TagRPC, TagConn and HandleConn implement stats.Handler.
func (*traffic) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*traffic) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*traffic) HandleConn(context.Context, stats.ConnStats)                       {}
