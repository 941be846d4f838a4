// Package service runs an HTTP handler as a service: a listener with limits, TLS, a page for
// the operator, metrics, a log that never blocks, and a graceful end. It must not know what
// the requests are about.
package service

import (
	"cmp"
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

// Options configure a service.
type Options struct {
	Addr string // HOST:PORT; port 0 = a free port

	// Authorized means that the handler authenticates requests. Anybody allows everyone.
	// Without both, only loopback addresses are accepted.
	Authorized, Anybody bool

	Certificate, Key string // PEM files; "" = no TLS

	// Admin is the loopback HOST:PORT of the operator's page; "" = no page.
	Admin        string
	AdminHandler http.Handler

	ConnectionsMax int           // further connections wait; 0 = 16,384
	Idle           time.Duration // how long a connection may be idle; 0 = 2 minutes
	Grace          time.Duration // for requests that still run at the end; 0 = 30 seconds
	RateMin        int64         // bytes a second that a client must read; 0 = no minimum

	Log *slog.Logger

	headTime time.Duration // only tests change it

	// Ready is called once, when connections are accepted. admin is nil without an operator's
	// page.
	Ready func(addr, admin net.Addr)
}

const (
	connectionsDefault = 16_384
	idleDefault        = 2 * time.Minute
	graceDefault       = 30 * time.Second

	// headTimeDefault is how long a client may take for a request's head. headBytesMax is the
	// size of the head.
	headTimeDefault = 10 * time.Second
	headBytesMax    = 64 << 10

	// unaskedBytesMax is how much HTTP/2 reads of a connection before a handler asks for it.
	// All streams fit into it: otherwise a stream that waits for the disk would hold up the
	// others. streamBytesMax is how much a client may send on a stream before it knows the
	// limit.
	unaskedBytesMax = streamsMax * streamBytesMax
	streamBytesMax  = 64 << 10
	streamsMax      = 16
	frameBytesMax   = 16 << 10
)

// Run serves h until ctx ends, and then until the running requests are answered. It then
// returns nil. It returns an error if the end took longer than Grace or a listener failed.
// When Run returns no handler is running, so their resources can be released.
func Run(ctx context.Context, h http.Handler, o Options) error {
	o.setDefaults()
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
	var under handlerTracker
	servers := []boundServer{{o.server(under.handler(h)), public}}
	var adminAddr net.Addr
	if o.Admin != "" {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Admin)
		if err != nil {
			return errors.Join(err, public.Close())
		}
		adminAddr = l.Addr()
		servers = append(servers, boundServer{o.server(under.handler(localOnly(o.AdminHandler))), l})
	}
	if o.Ready != nil {
		o.Ready(public.Addr(), adminAddr)
	}
	err = serve(ctx, servers, o.Grace)
	under.end()
	return err
}

// handlerTracker tracks running handlers, including those whose connections are closed.
type handlerTracker struct{ mu sync.RWMutex }

func (u *handlerTracker) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !u.mu.TryRLock() { // the service is ending
			panic(http.ErrAbortHandler)
		}
		defer u.mu.RUnlock()
		h.ServeHTTP(w, r)
	})
}

// end waits for the handlers, and prevents further ones.
func (u *handlerTracker) end() { u.mu.Lock() }

func (o *Options) setDefaults() {
	o.ConnectionsMax = cmp.Or(o.ConnectionsMax, connectionsDefault)
	o.Idle = cmp.Or(o.Idle, idleDefault)
	o.Grace = cmp.Or(o.Grace, graceDefault)
	o.headTime = cmp.Or(o.headTime, headTimeDefault)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
}

// ErrOpen is the error of a service that anybody on the network could use.
var ErrOpen = errors.New("anybody who reaches it could read, replace and delete everything")

// Check returns errors in the options themselves. The system may still refuse them later.
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
			return fmt.Errorf("admin address %s: this page exposes the program's memory: use an address of this machine, such as 127.0.0.1:9998", o.Admin)
		}
	}
	_, err = o.certificates()
	return err
}

// certificates returns the certificates; nil = no TLS.
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

// isLocal reports whether only this machine can reach an address. Host names count as not
// local, except localhost.
func isLocal(addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	}
	if err != nil {
		return false, fmt.Errorf("address %q: write HOST:PORT, such as 127.0.0.1:9999, with a port up to 65535", addr)
	}
	return isLoopback(host), nil
}

// isLoopback reports whether a host means this machine on every machine.
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

// boundServer is a server with its listener.
type boundServer struct {
	*http.Server
	listener net.Listener
}

// serve returns when all servers have ended, because ctx ended or a server failed.
func serve(ctx context.Context, servers []boundServer, grace time.Duration) error {
	ended := make(chan error, len(servers))
	for _, s := range servers {
		go func() { ended <- s.Serve(s.listener) }()
	}
	left := len(servers)
	var errs []error
	select {
	case <-ctx.Done():
	case err := <-ended: // a server failed
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

// end waits for running requests, up to a limit.
func (s boundServer) end(limit context.Context, grace time.Duration) error {
	err := s.Shutdown(limit)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests were still running %v after the stop signal and were broken off", grace), s.Close())
	}
	return err
}

// localOnly answers only requests that name this machine as their host. Otherwise a foreign
// page in a local browser could use DNS rebinding: its own host name leads to this machine,
// and it could read and replace all files.
func localOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // no port
			host = r.Host
		}
		if !isLoopback(host) {
			http.Error(w, "this service is for this machine, and "+host+" is none of its names: use 127.0.0.1, or a token", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}
