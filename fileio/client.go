package fileio

import (
	"context"

	"muster/fileio/internal/fair"
)

// A Client is who asks for something: what is scarce is divided among clients. Its zero
// value is one, too.
type Client = fair.Client

type clientKey struct{}

// WithClient returns a context whose calls of a store's methods are those of a client.
func WithClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

func clientOf(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}
