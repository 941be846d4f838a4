package reapi

import (
	"context"

	"muster/regress/internal/exec/reapi/client"
)

// Endpoint says where an engine is, who asks, and how patiently.
type Endpoint = client.Options

// Header is a line that goes with every request.
type Header = client.Header

// Connection is a connection to an engine, for one run after another.
type Connection struct{ client *client.Client }

// Dial connects. Its error is of class Input for what is wrong in the endpoint, and of class
// Environment where the engine cannot be reached or lacks something.
func Dial(ctx context.Context, at Endpoint) (*Connection, error) {
	c, err := client.Dial(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Connection{c}, nil
}

// Traffic is how many bytes went to the engine and came from it, by all of its runs.
func (c *Connection) Traffic() (sent, received int64) { return c.client.Traffic() }

// Unreachable reports whether Dial failed because there is no engine that answers.
func Unreachable(err error) bool { return client.Unreachable(err) }

// Close gives up the connection. No engine of it may be in use.
func (c *Connection) Close() { c.client.Close() }
