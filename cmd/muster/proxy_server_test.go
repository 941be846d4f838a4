package main_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"sync"
)

// proxyServer forwards requests, with faults.
type proxyServer struct {
	engine   *engineProcess
	faults   []proxyFault
	ready    string // a named pipe
	token    string
	listener net.Listener
	server   *http.Server
	to       *httputil.ReverseProxy

	mu      sync.Mutex
	seen    map[string]int // requests by method
	met     map[int]bool   // faults that met a request
	changed chan struct{}  // closed when seen changes
	conns   []net.Conn
}

func (p *proxyServer) listen() (err error) {
	p.listener, err = net.Listen("tcp", "127.0.0.1:0")
	return err
}

// serve starts the server, and returns the function that ends it.
func (p *proxyServer) serve(config *tls.Config) (end func()) {
	var both http.Protocols
	both.SetUnencryptedHTTP2(true)
	both.SetHTTP2(true)
	upstream := &http.Transport{Protocols: &both}
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	p.to = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: p.engine.host()})
		},
		Transport: upstream, FlushInterval: -1, ErrorLog: quiet,
	}
	p.server = &http.Server{
		Handler: p, Protocols: &both, TLSConfig: config, ErrorLog: quiet,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.conns = append(p.conns, c)
			return ctx
		},
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if config != nil {
			_ = p.server.ServeTLS(p.listener, "", "") // its error only means that it was closed
		} else {
			_ = p.server.Serve(p.listener)
		}
	})
	return func() {
		p.server.Close()
		p.cut()
		serving.Wait()
		upstream.CloseIdleConnections()
	}
}

// cut ends all connections at once, even during a message.
func (p *proxyServer) cut() {
	p.mu.Lock()
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	for _, c := range conns {
		if secure, ok := c.(*tls.Conn); ok {
			c = secure.NetConn() // Close of the other side sends a goodbye first, and may wait
		}
		c.Close()
	}
}

func (p *proxyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := path.Base(r.URL.Path)
	n := p.count(method)
	if p.token != "" && r.Header.Get("Authorization") != "Bearer "+p.token {
		answer(w, "16", "no such token")
		return
	}
	for i, f := range p.faults {
		if f.concerns(method, n) {
			p.mu.Lock()
			p.met[i] = true
			p.mu.Unlock()
			p.fail(f, w, r)
			return
		}
	}
	p.to.ServeHTTP(w, r)
}

func (p *proxyServer) count(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[method]++
	close(p.changed)
	p.changed = make(chan struct{})
	return p.seen[method]
}

// came waits for the nth request of a method.
func (p *proxyServer) came(ctx context.Context, method string, n int) {
	for {
		p.mu.Lock()
		seen, changed := p.seen[method], p.changed
		p.mu.Unlock()
		if seen >= n {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
