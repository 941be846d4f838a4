package client

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"
)

var errStalled = errors.New("nothing came or went within the deadline")

// watchdog ends a stream on which nothing moves.
type watchdog struct {
	ctx     context.Context
	stop    context.CancelCauseFunc
	timer   *time.Timer
	after   time.Duration
	started atomic.Bool // something has moved
}

func (c *Client) watchdog(ctx context.Context) *watchdog {
	return newWatchdog(ctx, c.o.Deadline, func() bool { return false })
}

// newWatchdog ends the stream after that time without a move. As long as nothing has moved yet
// and excused is true it waits as long again. excused is called by any goroutine.
func newWatchdog(ctx context.Context, after time.Duration, excused func() bool) *watchdog {
	w := &watchdog{after: after}
	w.ctx, w.stop = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(math.MaxInt64, func() {
		if !w.started.Load() && excused() {
			w.timer.Reset(after)
		} else {
			w.stop(errStalled)
		}
	})
	w.timer.Reset(after) // only now there is a timer that may be reset
	return w
}

func (w *watchdog) progressed() {
	w.started.Store(true)
	w.timer.Reset(w.after)
}

// end must be called, also after an error.
func (w *watchdog) end() {
	w.timer.Stop()
	w.stop(context.Canceled)
}

// cause is the error of a stream's operation, or that nothing moved, which may pass.
func (w *watchdog) cause(err error) error {
	if err != nil && context.Cause(w.ctx) == errStalled {
		return transient{errStalled}
	}
	return err
}
