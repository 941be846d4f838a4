package fileio

import (
	"context"

	"muster/fileio/internal/fair"
)

// A Client identifies the sender of a request. A store divides its memory and the places at its
// engine among clients. The zero value is a client, too.
type Client = fair.Client

type clientKey struct{}

// WithClient returns a context with a client. A store's methods act for that client.
func WithClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

func clientOf(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}
