package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// retries counts the attempts at one thing, and waits between them.
type retries struct {
	c   *Client
	n   int // attempts that failed since something moved
	max int
}

func (c *Client) retries() *retries { return &retries{c: c, max: c.o.Attempts} }

// moved says that there was progress: the attempts are counted from here.
func (r *retries) moved() { r.n = 0 }

// again waits and returns nil when another attempt makes sense after err, and otherwise the
// error for the caller, who was doing what.
func (r *retries) again(ctx context.Context, what string, err error) error {
	r.n++
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		<-ctx.Done() // gRPC's clock may strike first
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !passes(err) || r.n >= r.max:
		return r.c.failed(what, err)
	}
	return r.c.o.Sleep(ctx, r.delay(err))
}

// do makes attempts until one succeeds or none is left.
func (r *retries) do(ctx context.Context, what string, attempt func() error) error {
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		if err := r.again(ctx, what, err); err != nil {
			return err
		}
	}
}

// delay doubles with each attempt up to a cap, and the upper half of it is chance, or all
// clients of a server that restarts would come back at once. What the engine asks for counts.
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

// transient is an error of this side that another attempt may mend.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

// passes reports whether what failed may succeed by itself if tried again.
func passes(err error) bool {
	if errors.As(err, new(transient)) {
		return true
	}
	s, ok := status.FromError(err)
	if !ok {
		return false
	}
	text := s.Message()
	switch s.Code() {
	case codes.Unavailable:
		return !refusedByTLS(text)
	case codes.ResourceExhausted:
		return !strings.Contains(text, "larger than max") // of a message, by gRPC
	case codes.Aborted, codes.Canceled, codes.DeadlineExceeded: // the caller's own end is looked at before
		return true
	case codes.Internal, codes.Unknown:
		return brokenStream(text)
	}
	return false
}

// refusedByTLS tells a certificate that will not do from a server that went away meanwhile.
// gRPC has no more than a text.
func refusedByTLS(text string) bool {
	return strings.Contains(text, "x509: ") || strings.Contains(text, "tls: ")
}

// brokenStream tells a connection that broke, as gRPC and proxies put it, from an engine in
// trouble.
func brokenStream(text string) bool {
	for _, sign := range []string{"RST_STREAM", "EOF", "transport", "connection", "stream closed", "GOAWAY"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}
