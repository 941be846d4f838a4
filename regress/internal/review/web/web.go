// Package web shows a review in a browser, on one page. The link to the page works only once. The
// package serves only its embedded files, and contacts nobody.
//
// It must not decide: package review defines what a key does and how a difference is laid out.
// Package web decides who may look, and notifies reviewers of each other's decisions.
package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/review"
)

// Options of a review in a browser.
type Options struct {
	Addr string // HOST:PORT; port 0 = a free one; empty = 127.0.0.1:0

	Certificate, Key string // PEM files; "" = no TLS
	// InTheClear allows an address without TLS that others can reach. They can read along, and
	// decide.
	InTheClear bool

	// Open returns a desk for one more reviewer, with the present decisions. Its items and
	// cases are the same each time. One goroutine at a time calls it.
	Open func(ctx context.Context) (*review.Desk, error)

	// Ready is called once, with the link for the first browser.
	Ready func(link string)

	Idle  time.Duration // the review ends after this time without an open page; 0 = 30 minutes
	Every time.Duration // time between two looks at the decisions of others; 0 = 3 seconds
}

const (
	addrDefault  = "127.0.0.1:0"
	idleDefault  = 30 * time.Minute
	everyDefault = 3 * time.Second
)

// Outcome is the result of a review.
type Outcome struct {
	Results []review.Result // sum of all commits
	Unsaved []string        // IDs of the decisions that were not written, in order
	Idle    bool            // the review ended because no page was open
}

// Bounds of a browser's requests and of their duration.
const (
	headBytesMax   = 16 << 10
	headTime       = 10 * time.Second
	readTime       = 30 * time.Second
	connectionIdle = 2 * time.Minute
	lastTime       = time.Second      // for answers in progress at the end
	grace          = 10 * time.Second // for a commit in progress at the end
)

// Run serves the review until the last reviewer ends it, ctx ends, or no page is open for long.
// The outcome is valid with an error too.
func Run(ctx context.Context, o Options) (Outcome, error) {
	o.Addr, o.Idle, o.Every = cmp.Or(o.Addr, addrDefault), cmp.Or(o.Idle, idleDefault), cmp.Or(o.Every, everyDefault)
	r, err := o.check()
	if err != nil {
		return Outcome{}, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Addr)
	if err != nil {
		return Outcome{}, fault.Inputf("--web: %w", err)
	}
	origin := r.origin(l.Addr())
	if r.config != nil {
		l = tls.NewListener(l, r.config)
	}
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	writes, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	h := &house{options: o, reach: r, origin: origin, end: end, writes: writes, stopWrites: stop, quiet: time.Now()}
	server := &http.Server{
		Handler:           h.handler(),
		ReadHeaderTimeout: headTime, ReadTimeout: readTime, WriteTimeout: readTime,
		IdleTimeout: connectionIdle, MaxHeaderBytes: headBytesMax,
		BaseContext: func(net.Listener) context.Context { return running },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	var work sync.WaitGroup
	work.Go(func() { h.watch(running) })
	work.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			end(fault.Environmentf("--web: %w", err))
		}
	})
	o.Ready(h.link())
	<-running.Done()
	err = h.wind(server)
	work.Wait()
	return h.close(context.Cause(running), err)
}
