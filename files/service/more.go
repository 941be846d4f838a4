package service

import (
	"context"
	"net"
)

// moreKey is the context key of a request's connection.
type moreKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, moreKey{}, c)
}

// More announces that another write follows the next write to an HTTP/1.1 connection at once,
// so that the system sends them together. ctx is the request's context. On other connections
// and systems More does nothing.
func More(ctx context.Context) {
	if c, ok := ctx.Value(moreKey{}).(interface{ More() }); ok {
		c.More()
	}
}
