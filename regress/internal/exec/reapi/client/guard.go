package client

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"
)

var (
	errStalled  = errors.New("nothing came or went within the deadline")
	errNoAnswer = errors.New("it did not answer for every content")
)

// guard ends a stream on which nothing moves.
type guard struct {
	ctx     context.Context
	stop    context.CancelCauseFunc
	timer   *time.Timer
	after   time.Duration
	started atomic.Bool // something has moved
}

func (c *Client) guard(ctx context.Context) *guard {
	return newGuard(ctx, c.o.Deadline, func() bool { return false })
}

// newGuard ends the stream after that time without a move. As long as nothing has moved yet
// and excused is true it waits as long again. excused is called by any goroutine.
func newGuard(ctx context.Context, after time.Duration, excused func() bool) *guard {
	g := &guard{after: after}
	g.ctx, g.stop = context.WithCancelCause(ctx)
	g.timer = time.AfterFunc(math.MaxInt64, func() {
		if !g.started.Load() && excused() {
			g.timer.Reset(after)
		} else {
			g.stop(errStalled)
		}
	})
	g.timer.Reset(after) // only now there is a timer that may be reset
	return g
}

func (g *guard) progressed() {
	g.started.Store(true)
	g.timer.Reset(g.after)
}

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
