package main_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// proxy starts a proxy in front of the engine NAME; the variable VARIABLE is its address.
// Each fault is "METHOD COUNT DO": what is done to the requests of a method of the API ("*"
// is any) with these numbers, as 3, 2-5, 7- or *. What can be done:
//
//	answer CODE TEXT   it is answered with this status of gRPC
//	cut [BYTES]        all connections are cut, once it was sent on, or after so many of its
//	                   bytes and of its answer's
//	reset [BYTES]      so is this request alone
//	hold               it is not answered; the pipe $READY is told
//	late METHOD N      its answer waits for the Nth request of that method
//	end, restart, renew  the engine is killed once it has the request; and started again
//	                   with what it kept, or empty
//	gone               the proxy is there no more; the pipe $READY is told
//
// With --cert FILE --key FILE it speaks TLS, with --client-ca FILE to clients with such a
// certificate alone. --token TOKEN refuses other tokens and what has none.
func proxy(ts *testscript.TestScript, neg bool, args []string) {
	engines, ok := ts.Value(enginesKey{}).(map[string]*engineProcess)
	if neg || !ok || len(args) < 2 || engines[args[1]] == nil {
		ts.Fatalf("usage: proxy VARIABLE NAME [--cert FILE --key FILE [--client-ca FILE]] [--token TOKEN] [fault...]")
	}
	p := &proxyServer{engine: engines[args[1]], ready: ts.Getenv("READY"), seen: map[string]int{}, met: map[int]bool{}, changed: make(chan struct{})}
	secure := map[string]string{}
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		if flag, ok := strings.CutPrefix(rest[0], "--"); ok && len(rest) > 1 {
			secure[flag], rest = rest[1], rest[1:]
			continue
		}
		f, err := parseFault(rest[0])
		ts.Check(err)
		p.faults = append(p.faults, f)
	}
	p.token = secure["token"]
	config, err := serverTLS(ts, secure)
	ts.Check(err)
	ts.Check(p.listen())
	ts.Defer(p.serve(config))
	scheme := "grpc://"
	if config != nil {
		scheme = "grpcs://"
	}
	ts.Setenv(args[0], scheme+p.listener.Addr().String())
	if proxies, ok := ts.Value(proxiesKey{}).(map[string]*proxyServer); ok {
		proxies[args[0]] = p
	}
}

// proxiesKey is where a script's values hold its proxies by variable.
type proxiesKey struct{}

// struck fails if one of a proxy's faults met no request: the script proves nothing then.
func struck(ts *testscript.TestScript, neg bool, args []string) {
	proxies, ok := ts.Value(proxiesKey{}).(map[string]*proxyServer)
	if neg || !ok || len(args) != 1 || proxies[args[0]] == nil {
		ts.Fatalf("usage: struck VARIABLE")
	}
	p := proxies[args[0]]
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, f := range p.faults {
		if !p.met[i] {
			ts.Fatalf("%s %d %s met no request; there were %v", f.method, f.first, f.do, p.seen)
		}
	}
}

func serverTLS(ts *testscript.TestScript, files map[string]string) (*tls.Config, error) {
	if files["cert"] == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(ts.MkAbs(files["cert"]), ts.MkAbs(files["key"]))
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	if files["client-ca"] != "" {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		config.ClientCAs.AppendCertsFromPEM([]byte(ts.ReadFile(files["client-ca"])))
	}
	return config, err
}

// proxyFault is what is done to some requests.
type proxyFault struct {
	method      string
	first, last int // last 0 is no end
	do          string
	words       []string
}

func parseFault(text string) (f proxyFault, err error) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return f, fmt.Errorf("fault %q: METHOD COUNT DO", text)
	}
	f.method, f.do, f.words = words[0], words[2], words[3:]
	from, to, several := strings.Cut(words[1], "-")
	switch {
	case words[1] == "*":
		f.first = 1
	case !several:
		to = from
		fallthrough
	default:
		if f.first, err = strconv.Atoi(from); err == nil && to != "" {
			f.last, err = strconv.Atoi(to)
		}
	}
	return f, err
}

func (f proxyFault) concerns(method string, n int) bool {
	return (f.method == "*" || f.method == method) && n >= f.first && (f.last == 0 || n <= f.last)
}

// number is a word of a fault as a number, or what it is otherwise.
func (f proxyFault) number(word, otherwise int) int {
	if n, err := strconv.Atoi(strings.Join(f.words[min(word, len(f.words)):min(word+1, len(f.words))], "")); err == nil {
		return n
	}
	return otherwise
}

// proxyServer hands requests on, with faults.
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
	met     map[int]bool   // faults that struck
	changed chan struct{}  // closed when seen changes
	conns   []net.Conn
}

func (p *proxyServer) listen() (err error) {
	p.listener, err = net.Listen("tcp", "127.0.0.1:0")
	return err
}

// serve returns what ends it.
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
			_ = p.server.ServeTLS(p.listener, "", "") // its error is that it was closed
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

// cut ends all connections, in the midst of whatever is said on them.
func (p *proxyServer) cut() {
	p.mu.Lock()
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	for _, c := range conns {
		if secure, ok := c.(*tls.Conn); ok {
			c = secure.NetConn() // Close of the other says goodbye first, and may wait
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

// fail does to a request what a fault says.
func (p *proxyServer) fail(f proxyFault, w http.ResponseWriter, r *http.Request) {
	end, kill := f.number(0, -1), p.cut
	switch f.do {
	case "answer":
		answer(w, f.words[0], strings.Join(f.words[1:], " "))
		return
	case "hold":
		p.tell()
		<-r.Context().Done()
		return
	case "late":
		w = &lateWriter{ResponseWriter: w, wait: sync.OnceFunc(func() { p.came(r.Context(), f.words[0], f.number(1, 1)) })}
		kill = func() {}
	case "gone":
		p.listener.Close()
		p.cut()
		p.tell()
		return
	case "reset":
		ctx, cancel := context.WithCancel(r.Context())
		r, kill = r.WithContext(ctx), cancel
	case "end":
		kill = p.engine.end
	case "restart", "renew":
		kill = func() { p.must(p.engine.restart(f.do == "renew")) }
	}
	kill = sync.OnceFunc(kill)
	if end < 0 {
		sent := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { go kill() }}
		p.to.ServeHTTP(w, r.WithContext(httptrace.WithClientTrace(r.Context(), sent)))
		return
	}
	count := &byteCount{left: end, over: kill}
	r.Body = &countedBody{r.Body, count}
	p.to.ServeHTTP(&countedWriter{w, count}, r)
}

// must is for what no test can go on without: the engine would not start again.
func (p *proxyServer) must(err error) {
	if err != nil {
		p.listener.Close()
		p.cut()
	}
}

// tell writes to the named pipe, if somebody waits there.
func (p *proxyServer) tell() {
	pipe, err := os.OpenFile(p.ready, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer pipe.Close()
	_, _ = io.WriteString(pipe, "\n") // who waits may have gone
}

// answer is a status without a message, as gRPC has it.
func answer(w http.ResponseWriter, code, text string) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", code)
	w.Header().Set("Grpc-Message", text)
}

// byteCount does something after so many bytes.
type byteCount struct {
	mu   sync.Mutex
	left int
	over func()
}

var errEnough = errors.New("the test ends it here")

func (c *byteCount) add(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left -= n; c.left >= 0 {
		return nil
	}
	c.over()
	return errEnough
}

type countedBody struct {
	io.ReadCloser
	count *byteCount
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if e := b.count.add(n); e != nil {
		return 0, e
	}
	return n, err
}

type countedWriter struct {
	http.ResponseWriter
	count *byteCount
}

func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *countedWriter) Write(p []byte) (int, error) {
	if err := w.count.add(len(p)); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(p)
}

// lateWriter waits before the first that it hands on.
type lateWriter struct {
	http.ResponseWriter
	wait func()
}

func (w *lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *lateWriter) WriteHeader(code int) {
	w.wait()
	w.ResponseWriter.WriteHeader(code)
}
