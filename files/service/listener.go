package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"muster/internal/wording"
)

// A listener accepts at most connectionsMax connections at a time. Further connections wait in
// the system.
type listener struct {
	*net.TCPListener
	connections chan struct{}
	ended       chan struct{}
	end         sync.Once
}

func newListener(l net.Listener, connectionsMax int) net.Listener {
	return &listener{
		TCPListener: l.(*net.TCPListener), connections: make(chan struct{}, connectionsMax),
		ended: make(chan struct{}),
	}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.connections <- struct{}{}:
	case <-l.ended:
		return nil, net.ErrClosed
	}
	tcp, err := l.AcceptTCP()
	if err == nil {
		var c net.Conn
		if c, err = newConnection(tcp, sync.OnceFunc(l.release)); err == nil {
			return c, nil
		}
	}
	l.release()
	return nil, err
}

func (l *listener) release() { <-l.connections }

// Close implements net.Listener.
func (l *listener) Close() error {
	l.end.Do(func() { close(l.ended) })
	return l.TCPListener.Close()
}

// healthTime is how long a health check may take.
const healthTime = 2 * time.Second

// NewAdmin returns the operator's page: /metrics for Prometheus, /healthz and /debug/pprof.
// healthy returns why the service cannot work. It must return soon after its context ends.
func NewAdmin(m *Meter, healthy func(context.Context) error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>muster: admin</title><p><a href="/metrics">/metrics</a> <a href="/healthz">/healthz</a> <a href="/debug/pprof/">/debug/pprof</a>`)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.set.WritePrometheus(w)
		metrics.WriteGaugeUint64(w, "muster_os_threads", uint64(osThreads()))
		metrics.WriteProcessMetrics(w)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), healthTime)
		defer cancel()
		if err := healthy(ctx); err != nil {
			http.Error(w, wording.Of(err), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// moreKey is the context key of a request's connection.
type moreKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, moreKey{}, c)
}

// More announces that another write follows the next write to an HTTP/1.1 connection at once,
// so that the system sends them together. ctx is the request's context. On other connections
// and systems More does nothing.
func More(ctx context.Context) {
	if c, ok := ctx.Value(moreKey{}).(interface{ More() }); ok {
		c.More()
	}
}

// A Meter counts and times requests. Any number of requests may run at the same time.
type Meter struct {
	set     *metrics.Set
	log     *slog.Logger
	running atomic.Int64
	methods map[string]*method // not changed after NewMeter
}

// method holds the figures of one method's requests.
type method struct {
	byClass [6]*metrics.Counter // by the first digit of the status; 0 = broken off
	time    *metrics.Summary
}

// otherMethod stands for all other methods, which a client may invent.
const otherMethod = "other"

// NewMeter returns a new Meter. It logs each request at debug level; nil = no log.
func NewMeter(log *slog.Logger) *Meter {
	m := &Meter{set: metrics.NewSet(), log: cmp.Or(log, slog.New(slog.DiscardHandler)), methods: map[string]*method{}}
	m.set.NewGauge("muster_requests_running", func() float64 { return float64(m.running.Load()) })
	for _, name := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost, http.MethodDelete, otherMethod} {
		one := &method{time: m.set.NewSummary(fmt.Sprintf(`muster_request_seconds{method=%q}`, name))}
		for class := range one.byClass {
			status := fmt.Sprintf("%dxx", class)
			if class == 0 {
				status = "broken"
			}
			one.byClass[class] = m.set.NewCounter(fmt.Sprintf(`muster_requests_total{method=%q,status=%q}`, name, status))
		}
		m.methods[name] = one
	}
	return m
}

// Gauge adds a figure that is computed on demand. Its name must be a new Prometheus metric
// name.
func (m *Meter) Gauge(name string, value func() float64) { m.set.NewGauge(name, value) }

// Handler counts and times the requests that h answers.
func (m *Meter) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		m.running.Add(1)
		a := &answer{ResponseWriter: w, status: http.StatusOK}
		ended := false
		defer func() {
			m.running.Add(-1)
			m.count(r, a, ended, time.Since(began))
		}()
		h.ServeHTTP(a, r)
		ended = true
	})
}

func (m *Meter) count(r *http.Request, a *answer, ended bool, took time.Duration) {
	one, ok := m.methods[r.Method]
	if !ok {
		one = m.methods[otherMethod]
	}
	one.byClass[a.class(ended)].Inc()
	one.time.Update(took.Seconds())
	if m.log.Enabled(r.Context(), slog.LevelDebug) {
		m.log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", a.status, "ms", took.Seconds()*1000, "from", r.RemoteAddr)
	}
}

// answer is a response whose status is known.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(status int) {
	if status >= http.StatusOK { // 1xx may precede it
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Flush is for handlers of streams.
func (a *answer) Flush() { _ = http.NewResponseController(a.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// class returns the first digit of the status, or 0 if the handler broke the answer off.
func (a *answer) class(ended bool) int {
	switch {
	case !ended:
		return 0
	case a.status >= 600:
		return 5
	}
	return a.status / 100
}
