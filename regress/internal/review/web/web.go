// Package web shows a review in a browser: the decisions of package review, on one page
// that a link opens once. It serves what it has embedded and nothing else, and asks nobody
// but the browser.
//
// It must not decide: what a key does, and how a difference is laid out, is package
// review's. What it holds beside that is who may look, and how they hear of each other.
package web

import (
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
	Addr string // HOST:PORT; port 0 = one that is free; empty = 127.0.0.1:0

	Certificate, Key string // files, in PEM; "" = no TLS
	// InTheClear allows an address that others reach without TLS: they can read along,
	// and decide.
	InTheClear bool

	// Open returns a desk for one more reviewer, with what is decided by then. Its items
	// and cases are the same each time. It is called by one goroutine at a time.
	Open func(ctx context.Context) (*review.Desk, error)

	// Ready is called once, with the link for the first browser.
	Ready func(link string)

	Idle  time.Duration // ends after so long without a page open; 0 = 30 minutes
	Every time.Duration // how often it is looked what others wrote; 0 = 3 seconds
}

const (
	addrDefault  = "127.0.0.1:0"
	idleDefault  = 30 * time.Minute
	everyDefault = 3 * time.Second
)

// Outcome is what came of a review.
type Outcome struct {
	Results []review.Result // of all commits that were written
	Unsaved []string        // IDs of what was decided and not written, in order
	Idle    bool            // it ended because no page was open any more
}

// Bounds of what a browser may send, and of how long that may take.
const (
	headBytesMax   = 16 << 10
	headTime       = 10 * time.Second
	readTime       = 30 * time.Second
	connectionIdle = 2 * time.Minute
	lastTime       = time.Second      // for answers that are under way at the end
	grace          = 10 * time.Second // for what is being written then
)

// Run serves the review until the last reviewer ends it, or ctx ends, or nobody looks any
// more. The outcome is good with an error too.
func Run(ctx context.Context, o Options) (Outcome, error) {
	o.complete()
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
	h := newHouse(o, r, origin, end)
	h.writes, h.stopWrites = writes, stop
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

func (o *Options) complete() {
	if o.Addr == "" {
		o.Addr = addrDefault
	}
	if o.Idle == 0 {
		o.Idle = idleDefault
	}
	if o.Every == 0 {
		o.Every = everyDefault
	}
}
