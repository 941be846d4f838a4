// Package web shows a review in a browser, on one page. The link to the page works only once. The
// package serves only its embedded files, contacts nobody, and listens only on this machine.
//
// One page at a time decides, and others read. It must not know what a key does or how a difference
// is laid out: package review defines both.
package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/review"
)

// Options of a review in a browser.
type Options struct {
	Addr  string            // HOST:PORT of this machine; port 0 = a free one; empty = 127.0.0.1:0
	Ready func(link string) // called once, with the link for the first browser
}

const addrDefault = "127.0.0.1:0"

// Bounds of a browser's requests and of their duration.
const (
	headBytesMax   = 16 << 10
	headTime       = 10 * time.Second
	readTime       = 30 * time.Second
	connectionIdle = 2 * time.Minute
	lastTime       = time.Second      // for answers in progress at the end
	grace          = 10 * time.Second // for a commit in progress at the end
)

// errFinished ends a review without an error.
var errFinished = errors.New("the review was finished in the browser")

// Run serves the review until it is finished in the browser, or ctx ends. It returns what was written,
// with an error too.
func Run(ctx context.Context, d *review.Desk, o Options) ([]review.Result, error) {
	l, err := listen(ctx, cmp.Or(o.Addr, addrDefault))
	if err != nil {
		return nil, err
	}
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	writes, stopWrites := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWrites()
	s := &server{desk: d, key: rand.Text(), origin: "http://" + l.Addr().String(), writes: writes, finish: func() { end(errFinished) }}
	h := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headTime, ReadTimeout: readTime, IdleTimeout: connectionIdle, MaxHeaderBytes: headBytesMax,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	var work sync.WaitGroup
	work.Go(func() {
		if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			end(fault.Environmentf("--web: %w", err))
		}
	})
	o.Ready(s.newLink())
	<-running.Done()
	late := time.AfterFunc(grace, stopWrites)
	results := s.close()
	late.Stop()
	err = shutDown(h)
	work.Wait()
	if cause := context.Cause(running); !errors.Is(cause, errFinished) {
		err = errors.Join(cause, err)
	}
	return results, err
}

// listen refuses an address that other machines reach: without TLS they could read along.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fault.Inputf("--web %q: it is HOST:PORT, as in 127.0.0.1:8080: %w", addr, err)
	}
	if !isLoopback(host) {
		return nil, fault.Inputf("--web %s: other machines reach this address, and could read along: take 127.0.0.1:8080, and on the other machine ssh -L 8080:127.0.0.1:8080 THIS-MACHINE", addr)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fault.Inputf("--web: %w", err)
	}
	return l, nil
}

// isLoopback reports whether a host always means the asking machine itself.
func isLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// shutDown gives answers in progress a short time. It does not wait for a client that hangs.
func shutDown(h *http.Server) error {
	limit, cancel := context.WithTimeout(context.Background(), lastTime)
	defer cancel()
	if h.Shutdown(limit) == nil {
		return nil
	}
	if err := h.Close(); err != nil {
		return fault.Environmentf("--web: %w", err)
	}
	return nil
}
