package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/internal/readable"
	"muster/regress/internal/fault"
)

// retries counts the attempts at one request, and waits between them.
type retries struct {
	c   *Client
	n   int // failed attempts since the last progress
	max int

	since time.Time // time of the first of these
	began int64     // requests of the client that had succeeded by then
	ended int64     // executions of the client that had ended at the latest of these

	doubts int // remaining attempts that may fail with an error that is usually permanent
}

func (c *Client) retries() *retries {
	return &retries{c: c, max: c.o.Attempts, doubts: doubtsMax, ended: c.executed.Load()}
}

// doubtsMax is the number of retries after an error that is usually permanent.
const doubtsMax = 2

// queueing is the number of attempts after which the pauses of a waiting request do not grow
// any more.
const queueing = 5

// queue does not count an attempt that a full engine refused, as long as executions of this
// client end there: they take the room.
func (r *retries) queue(err error) {
	if ended := r.c.executed.Load(); status.Code(err) == codes.ResourceExhausted && ended != r.ended {
		r.ended, r.since, r.n = ended, time.Now(), min(r.n, queueing)
	}
}

// progressed records progress: attempts are counted from here.
func (r *retries) progressed() {
	r.n, r.doubts = 0, doubtsMax
	r.c.succeeded()
}

// succeeded records that a request of this client succeeded.
func (c *Client) succeeded() {
	c.successes.Add(1)
	c.away.Store(false)
	if c.noted.Load() && c.noted.CompareAndSwap(true, false) {
		c.o.Note("engine " + c.o.URL + " is back")
	}
}

// again waits and returns nil if another attempt makes sense after err. Otherwise it returns
// the error for the caller.
func (r *retries) again(ctx context.Context, p purpose, err error) error {
	r.queue(err)
	if r.n++; r.n == 1 {
		r.since, r.began = time.Now(), r.c.successes.Load()
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		<-ctx.Done() // gRPC's own clock may expire first
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	left := r.c.o.Wait - time.Since(r.since)
	switch {
	case r.doubts > 0 && doubtful(err) && r.n < r.max:
		r.doubts--
	case !retryable(err) || r.n >= r.max || r.c.away.Load() || left <= 0:
		return r.giveUp(p, err)
	}
	r.noteWaiting(err, left)
	return r.c.o.Sleep(ctx, min(r.delay(err), max(left, 0)))
}

// noteAfter is how long muster waits silently for an engine that answers nobody.
const noteAfter = 2 * time.Second

// noteWaiting notes once what muster waits for.
func (r *retries) noteWaiting(err error, left time.Duration) {
	c := r.c
	if unanswered(err) && time.Since(r.since) >= noteAfter && c.successes.Load() == r.began && c.noted.CompareAndSwap(false, true) {
		c.o.Note(fmt.Sprintf("engine %s is away (%s): waiting for it, %s at most", c.o.URL, c.o.redacted(statusText(err)), readable.Duration(left)))
	}
}

// giveUp records that the engine answered nobody during this wait. No other request has to wait
// as long, until one succeeds.
func (r *retries) giveUp(p purpose, err error) error {
	if r.n == 1 && r.c.away.Load() && retryable(err) {
		return fault.Environmentf("engine %s is still away", r.c.o.URL)
	}
	if unanswered(err) && r.c.successes.Load() == r.began {
		r.c.away.Store(true)
	}
	return r.c.failedAfter(p, err, r.n, time.Since(r.since))
}

// do makes attempts until one succeeds or none is left.
func (r *retries) do(ctx context.Context, p purpose, attempt func() error) error {
	for {
		err := attempt()
		if err == nil {
			r.c.succeeded()
			return nil
		}
		if err := r.again(ctx, p, err); err != nil {
			return err
		}
	}
}

// delay doubles with each attempt up to a bound. Its upper half is random, because otherwise
// all clients of a restarted server would come back at once. A delay that the engine asks for
// counts.
func (r *retries) delay(err error) time.Duration {
	d := min(r.c.o.Backoff<<min(r.n-1, 20), r.c.o.BackoffMax)
	d = d/2 + rand.N(d/2+1)
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			d = max(d, min(info.GetRetryDelay().AsDuration(), r.c.o.Deadline))
		}
	}
	return d
}

var errStalled = errors.New("nothing came or went within the deadline")

// watchdog ends a stream without progress.
type watchdog struct {
	ctx   context.Context
	stop  context.CancelCauseFunc
	timer *time.Timer
	after time.Duration
}

func (c *Client) watchdog(ctx context.Context) *watchdog {
	return newWatchdog(ctx, c.o.Deadline)
}

// newWatchdog returns a watchdog that ends the stream after a time without progress.
func newWatchdog(ctx context.Context, after time.Duration) *watchdog {
	w := &watchdog{after: after}
	w.ctx, w.stop = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(after, func() { w.stop(errStalled) })
	return w
}

func (w *watchdog) progressed() { w.timer.Reset(w.after) }

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

// latch waits for a number of answers, and keeps the first error.
type latch struct {
	mu   sync.Mutex
	left int
	err  error
	done chan struct{}
}

func newLatch(n int) *latch {
	l := &latch{left: n, done: make(chan struct{})}
	if n == 0 {
		close(l.done)
	}
	return l
}

func (l *latch) countDown(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = cmp.Or(l.err, err)
	if l.left--; l.left == 0 {
		close(l.done)
	}
}

func (l *latch) wait(ctx context.Context) error { return waitFor(ctx, l.done, &l.err) }

// waitFor waits until done is closed, and then returns the error at its place.
func waitFor(ctx context.Context, done <-chan struct{}, err *error) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-done:
		return *err
	}
}
