package reapi

import (
	"context"

	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/exec/reapi/tree"
)

// Endpoint is the address of an engine, with the client's identity and patience.
type Endpoint = client.Options

// Property is a required property of a worker.
type Property = tree.Property

// Header is a header that every request carries.
type Header = client.Header

// Connection is a connection to an engine. Several runs may use it, one after another.
type Connection struct{ client *client.Client }

// Dial connects. An error in the endpoint is of class Input. If the engine cannot be reached or
// lacks a feature, the error is of class Environment.
func Dial(ctx context.Context, at Endpoint) (*Connection, error) {
	c, err := client.Dial(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Connection{c}, nil
}

// Traffic returns the bytes that all runs have sent to the engine and received from it.
func (c *Connection) Traffic() (sent, received int64) { return c.client.Traffic() }

// Unreachable reports whether Dial failed because no engine answers.
func Unreachable(err error) bool { return client.Unreachable(err) }

// Close closes the connection. Stop its engines first.
func (c *Connection) Close() { c.client.Close() }
