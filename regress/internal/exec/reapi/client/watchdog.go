package client

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"
)

var errStalled = errors.New("nothing came or went within the deadline")

// watchdog ends a stream without progress.
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

// newWatchdog returns a watchdog that ends the stream after a time without progress. As long as
// nothing has moved and excused returns true, it waits as long again. Any goroutine may call
// excused.
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
	w.timer.Reset(after) // only now is there a timer to reset
	return w
}

func (w *watchdog) progressed() {
	w.started.Store(true)
	w.timer.Reset(w.after)
}

// end must be called, even after an error.
func (w *watchdog) end() {
	w.timer.Stop()
	w.stop(context.Canceled)
}

// cause returns the error of a stream's operation, or a transient error if nothing moved.
func (w *watchdog) cause(err error) error {
	if err != nil && context.Cause(w.ctx) == errStalled {
		return transient{errStalled}
	}
	return err
}
