package client

import (
	"context"
	"errors"
	"time"
)

var (
	errStalled  = errors.New("nothing came or went within the deadline")
	errNoAnswer = errors.New("it did not answer for every content")
)

// guard ends a stream on which nothing moves.
type guard struct {
	ctx   context.Context
	stop  context.CancelCauseFunc
	timer *time.Timer
	after time.Duration
}

func (c *Client) guard(ctx context.Context) *guard { return newGuard(ctx, c.o.Deadline) }

func newGuard(ctx context.Context, after time.Duration) *guard {
	g := &guard{after: after}
	g.ctx, g.stop = context.WithCancelCause(ctx)
	g.timer = time.AfterFunc(after, func() { g.stop(errStalled) })
	return g
}

func (g *guard) moved() { g.timer.Reset(g.after) }

// end must be called, also after an error.
func (g *guard) end() {
	g.timer.Stop()
	g.stop(context.Canceled)
}

// why is the error of a stream's operation, or that nothing moved, which may pass.
func (g *guard) why(err error) error {
	if err != nil && context.Cause(g.ctx) == errStalled {
		return transient{errStalled}
	}
	return err
}
