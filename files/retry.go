package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

// Bounds on retries.
const (
	repeatsMax = 3
	waitFirst  = 250 * time.Millisecond // doubles each time, unless the server sends Retry-After
	waitMax    = 30 * time.Second       // no retry if the server asks for a longer wait
)

// exchange is a request, which may be sent several times, and its answer.
type exchange struct {
	method, address string
	header          http.Header
	body            io.ReaderAt // nil = no body
	size            int64       // of body
	repeatable      bool        // executing it twice has the same effect as once
}

// do sends a request, with retries, and returns a successful answer or 304. The caller closes
// its body.
func (c *Client) do(ctx context.Context, q *exchange) (*http.Response, error) {
	for try := 0; ; try++ {
		r, err := c.try(ctx, q)
		if err == nil {
			return r, nil
		}
		wait, again := q.retryDelay(err, try)
		if !again {
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w, before this could be retried: %w", ctx.Err(), err)
		}
	}
}

func (c *Client) try(ctx context.Context, q *exchange) (*http.Response, error) {
	m := newStallWatch(ctx)
	r, err := c.request(m, q)
	if err != nil {
		m.close()
		return nil, err
	}
	answer, err := c.http.Do(r)
	if stalled := m.explain(err); stalled != err {
		err = fmt.Errorf("%s %s: %w", q.method, q.address, stalled)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	answer.Body = m.watch(answer.Body, true)
	if answer.StatusCode/100 == 2 || answer.StatusCode == http.StatusNotModified && q.method == http.MethodGet {
		return answer, nil
	}
	return nil, statusError(q, answer)
}

// request builds the request of an exchange.
func (c *Client) request(m *stallWatch, q *exchange) (*http.Request, error) {
	var body io.Reader
	if q.size > 0 {
		// Each try has its own reader. If the server answers early, the body of the last try
		// may still be being sent.
		body = m.watch(io.NopCloser(io.NewSectionReader(q.body, 0, q.size)), false)
	}
	r, err := http.NewRequestWithContext(m.ctx, q.method, q.address, body)
	if err != nil {
		return nil, err
	}
	if err := c.options.CheckToken(r.URL); err != nil {
		return nil, err
	}
	if q.header != nil {
		r.Header = q.header.Clone()
	}
	r.Header.Set("Accept-Encoding", "identity") // tags and lengths must be those of the files
	r.Header.Set("Cache-Control", "no-cache")   // a proxy's copy may be old
	if c.options.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	r.ContentLength = q.size
	return r, nil
}

// retryDelay returns how long to wait before a retry, and whether to retry at all.
func (q *exchange) retryDelay(err error, try int) (wait time.Duration, again bool) {
	if try >= repeatsMax || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return 0, false
	}
	wait = waitFirst << try
	wait += rand.N(wait / 2) // spread clients that were refused together
	var refused *StatusError
	if errors.As(err, &refused) {
		wait = max(wait, refused.retryAfter)
		return wait, refused.Status == http.StatusServiceUnavailable && wait <= waitMax
	}
	return wait, errors.Is(err, syscall.ECONNREFUSED) || q.repeatable && brokeConnection(err)
}

// brokeConnection reports whether a connection ended before its answer. The server may or may
// not have executed the request.
func brokeConnection(err error) bool {
	var u *url.Error
	return errors.As(err, &u) && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
}

// retryAfterOf reads the seconds of the header Retry-After; 0 = missing, or a time.
func retryAfterOf(h http.Header) time.Duration {
	n, _ := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	return time.Duration(n) * time.Second
}
