package service

import (
	"context"
	"net"
)

// moreKey is where a request's context has its connection.
type moreKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, moreKey{}, c)
}

// More says that what is written to a connection of HTTP/1.1 next is followed by more at once,
// so that the system does not send it alone. ctx is a request's; on other connections, and
// other systems, it does nothing.
func More(ctx context.Context) {
	if c, ok := ctx.Value(moreKey{}).(interface{ More() }); ok {
		c.More()
	}
}
