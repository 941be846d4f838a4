// Package service runs a handler of HTTP as a service: its listener and its limits, TLS, a
// page for its operator, figures, a log that nobody waits for, and an end that loses
// nothing. It must not know what the requests are about.
package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"muster/files/internal/pace"
)

// Options of a service.
type Options struct {
	Addr string // HOST:PORT; port 0 = one that is free

	// Authorized says that requests must prove who they are. Without it, or Anybody, only
	// addresses of this machine can be listened to.
	Authorized, Anybody bool

	Certificate, Key string // files, in PEM; "" = no TLS

	// Admin is HOST:PORT of this machine for the operator's page; "" = none.
	Admin        string
	AdminHandler http.Handler

	ConnectionsMax int           // more wait for one to end; 0 = 16,384
	Idle           time.Duration // how long a connection may be without a request; 0 = 2 minutes
	Grace          time.Duration // for requests that are under way at the end; 0 = 30 seconds
	RateMin        int64         // bytes a second that a client must take of what is written; 0 = no minimum

	Log *slog.Logger

	headTime time.Duration // other than the default in tests alone

	// Ready is called once, when connections are accepted; admin is nil without that page.
	Ready func(addr, admin net.Addr)
}

const (
	connectionsDefault = 16_384
	idleDefault        = 2 * time.Minute
	graceDefault       = 30 * time.Second

	// A client gets this long for a request's head, of this many bytes.
	headTimeDefault = 10 * time.Second
	headBytesMax    = 64 << 10

	// What HTTP/2 reads of a connection before a handler asks for it. All streams together
	// fit into it: else one that waits for the disk would keep bytes from the others. Of a
	// stream it is what a client may send before it knows the limit.
	unaskedBytesMax = streamsMax * streamBytesMax
	streamBytesMax  = 64 << 10
	streamsMax      = 16
	frameBytesMax   = 16 << 10
)

// Run serves h until ctx ends, and then until the requests that are under way are
// answered. It returns nil after such an end; one that took longer than Grace is an error,
// and so is a listener that fails. When it returns no handler is at work: what they use can
// be taken away.
func Run(ctx context.Context, h http.Handler, o Options) error {
	o.complete()
	if err := o.Check(); err != nil {
		return err
	}
	public, err := o.listen(ctx)
	if err != nil {
		return err
	}
	if !o.Authorized && !o.Anybody {
		h = localOnly(h)
	}
	var under underWay
	servers := []running{{o.server(under.handler(h)), public}}
	var adminAddr net.Addr
	if o.Admin != "" {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Admin)
		if err != nil {
			return errors.Join(err, public.Close())
		}
		adminAddr = l.Addr()
		servers = append(servers, running{o.server(under.handler(localOnly(o.AdminHandler))), l})
	}
	if o.Ready != nil {
		o.Ready(public.Addr(), adminAddr)
	}
	err = serve(ctx, servers, o.Grace)
	under.end()
	return err
}

// underWay knows of requests whose handlers have not returned, also where their connections
// are closed.
type underWay struct{ mu sync.RWMutex }

func (u *underWay) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !u.mu.TryRLock() { // it came with the end
			panic(http.ErrAbortHandler)
		}
		defer u.mu.RUnlock()
		h.ServeHTTP(w, r)
	})
}

// end waits for the handlers, and lets no other one begin.
func (u *underWay) end() { u.mu.Lock() }

func (o *Options) complete() {
	if o.ConnectionsMax == 0 {
		o.ConnectionsMax = connectionsDefault
	}
	if o.Idle == 0 {
		o.Idle = idleDefault
	}
	if o.Grace == 0 {
		o.Grace = graceDefault
	}
	if o.headTime == 0 {
		o.headTime = headTimeDefault
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// ErrOpen is the error of a service that anybody on the network could use.
var ErrOpen = errors.New("anybody who reaches it could read, replace and delete everything")

// Check returns what is wrong with the options themselves, whatever the system says later.
func (o *Options) Check() error {
	local, err := isLocal(o.Addr)
	if err != nil {
		return err
	}
	if !local && !o.Authorized && !o.Anybody {
		return fmt.Errorf("address %s is not this machine's alone, and there is no token: %w", o.Addr, ErrOpen)
	}
	if o.Admin != "" {
		local, err := isLocal(o.Admin)
		if err != nil {
			return err
		}
		if !local {
			return fmt.Errorf("admin address %s: it shows the program's memory to whoever reaches it: only one of this machine is possible, as 127.0.0.1:9998", o.Admin)
		}
	}
	_, err = o.certificates()
	return err
}

// certificates are none without TLS.
func (o *Options) certificates() ([]tls.Certificate, error) {
	if o.Certificate == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(o.Certificate, o.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s and key %s: %w", o.Certificate, o.Key, err)
	}
	return []tls.Certificate{pair}, nil
}

func (o *Options) listen(ctx context.Context) (net.Listener, error) {
	certificates, err := o.certificates()
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Addr)
	if err != nil {
		return nil, err
	}
	l = newListener(l, o.ConnectionsMax)
	if o.RateMin > 0 {
		l = pace.Listener(l, o.RateMin)
	}
	if certificates == nil {
		return l, nil
	}
	return tls.NewListener(l, &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}), nil
}

// isLocal reports whether only this machine reaches an address. A name may be anybody's, but
// for the one that never is.
func isLocal(addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	}
	if err != nil {
		return false, fmt.Errorf("address %q: it is HOST:PORT, as in 127.0.0.1:9999: %w", addr, err)
	}
	return isLoopback(host), nil
}

// isLoopback reports whether a host is this machine for whoever asks.
func isLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (o *Options) server(h http.Handler) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: h, Protocols: &protocols,
		ReadHeaderTimeout: o.headTime, MaxHeaderBytes: headBytesMax, IdleTimeout: o.Idle,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          streamsMax,
			MaxReceiveBufferPerConnection: unaskedBytesMax, MaxReceiveBufferPerStream: streamBytesMax,
			MaxReadFrameSize: frameBytesMax,
		},
		ConnContext: withConnection,
		ErrorLog:    slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
}

// running is a server and where it listens.
type running struct {
	*http.Server
	listener net.Listener
}

// serve returns when all servers have ended: because ctx did, or because one of them failed.
func serve(ctx context.Context, servers []running, grace time.Duration) error {
	ended := make(chan error, len(servers))
	for _, s := range servers {
		go func() { ended <- s.Serve(s.listener) }()
	}
	left := len(servers)
	var errs []error
	select {
	case <-ctx.Done():
	case err := <-ended: // before its time
		errs = append(errs, err)
		left--
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	for _, s := range servers {
		errs = append(errs, s.end(limit, grace))
	}
	for range left {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// end lets requests end that are under way, up to a limit.
func (s running) end(limit context.Context, grace time.Duration) error {
	err := s.Shutdown(limit)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests were still under way %v after the end was asked for, and were broken off", grace), s.Close())
	}
	return err
}
