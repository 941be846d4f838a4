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

// What is tried again, how often, and after how long.
const (
	repeatsMax = 3
	waitFirst  = 250 * time.Millisecond // doubles each time, unless the server says how long
	waitMax    = 30 * time.Second       // a server that asks for more gets no further request
)

// exchange is a request to be made, perhaps several times, and its answer.
type exchange struct {
	method, address string
	header          http.Header
	body            io.ReaderAt // nil = none
	size            int64       // of body
	repeatable      bool        // to do it twice is as to do it once
}

// do makes a request, again where it makes sense, and returns an answer that says it was
// done, or is 304. Its body is the caller's to close.
func (c *Client) do(ctx context.Context, q *exchange) (*http.Response, error) {
	for try := 0; ; try++ {
		r, err := c.once(ctx, q)
		if err == nil {
			return r, nil
		}
		wait, again := q.again(err, try)
		if !again {
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w, while this was to be tried again: %w", ctx.Err(), err)
		}
	}
}

func (c *Client) once(ctx context.Context, q *exchange) (*http.Response, error) {
	m := newMoving(ctx)
	r, err := c.request(m, q)
	if err != nil {
		m.close()
		return nil, err
	}
	answer, err := c.http.Do(r)
	if stalled := m.about(err); stalled != err {
		err = fmt.Errorf("%s %s: %w", q.method, q.address, stalled)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	answer = m.coming(answer)
	if answer.StatusCode/100 == 2 || answer.StatusCode == http.StatusNotModified && q.method == http.MethodGet {
		return answer, nil
	}
	return nil, statusError(q, answer)
}

// request is what an exchange sends.
func (c *Client) request(m *moving, q *exchange) (*http.Request, error) {
	var body io.Reader
	if q.size > 0 {
		// One for each try: a server may answer before it has read all, and then the body
		// is still being sent.
		body = m.sending(io.NewSectionReader(q.body, 0, q.size))
	}
	r, err := http.NewRequestWithContext(m.ctx, q.method, q.address, body)
	if err != nil {
		return nil, err
	}
	if err := c.options.MayTell(r.URL); err != nil {
		return nil, err
	}
	if q.header != nil {
		r.Header = q.header.Clone()
	}
	r.Header.Set("Accept-Encoding", "identity") // tags and lengths are those of the files
	r.Header.Set("Cache-Control", "no-cache")   // what a proxy on the way has may be old
	if c.options.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	r.ContentLength = q.size
	return r, nil
}

// again says after how long to try once more, and whether at all.
func (q *exchange) again(err error, try int) (wait time.Duration, again bool) {
	if try >= repeatsMax || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return 0, false
	}
	wait = waitFirst << try
	wait += rand.N(wait / 2) // those who were refused together come one by one
	var refused *StatusError
	if errors.As(err, &refused) {
		wait = max(wait, refused.retryAfter)
		return wait, refused.Status == http.StatusServiceUnavailable && wait <= waitMax
	}
	return wait, errors.Is(err, syscall.ECONNREFUSED) || q.repeatable && broke(err)
}

// broke reports whether a connection ended before its answer: nobody knows how far the
// server came.
func broke(err error) bool {
	var u *url.Error
	return errors.As(err, &u) && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
}

// retryAfterOf reads the header of that name: seconds, or a time; 0 where there is none.
func retryAfterOf(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
