package fair

import "context"

// A Client identifies the sender of a request. Each token has a share, which is divided among
// its addresses. The empty token is shared by all clients that need no token. It is not
// limited as a whole.
type Client struct{ Token, Address string }

type clientKey struct{}

// WithClient returns a context of a request of a client.
func WithClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// ClientOf returns the client of a request. A context without one has the zero Client.
func ClientOf(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}
