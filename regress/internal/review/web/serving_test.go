package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"muster/regress/internal/review/web"
)

// A served review runs until its test ends it, or somebody in a browser does.
type served struct {
	*testing.T
	link    string
	stop    context.CancelFunc
	done    chan struct{} // closed when it has ended
	outcome web.Outcome
	err     error
}

func serve(t *testing.T, s *store, change ...func(*web.Options)) *served {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	v := &served{T: t, stop: stop, done: make(chan struct{})}
	ready := make(chan string, 1)
	o := web.Options{Open: s.open, Ready: func(link string) { ready <- link }}
	for _, c := range change {
		c(&o)
	}
	go func() {
		defer close(v.done)
		v.outcome, v.err = web.Run(ctx, o)
	}()
	t.Cleanup(func() { stop(); <-v.done })
	select {
	case v.link = <-ready:
	case <-v.done:
		t.Fatal(v.err)
	}
	return v
}

// quoted puts texts into an expression, as JavaScript has them.
func quoted(format string, texts ...string) string {
	var args []any
	for _, text := range texts {
		b, _ := json.Marshal(text)
		args = append(args, string(b))
	}
	return fmt.Sprintf(format, args...)
}

// A wire is what is between a browser and a review: it can be cut, and mended.
type wire struct {
	link string
	to   string

	mu    sync.Mutex
	isCut bool
	ends  []net.Conn
}

func newWire(t *testing.T, link string) *wire {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{to: hostOf(link)}
	w.link = strings.Replace(link, w.to, l.Addr().String(), 1)
	var work sync.WaitGroup
	t.Cleanup(func() { l.Close(); w.cut(); work.Wait() })
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { w.carry(t.Context(), c, &work) })
		}
	})
	return w
}

// carry brings to one end what the other sends, for as long as the wire is whole.
func (w *wire) carry(ctx context.Context, c net.Conn, work *sync.WaitGroup) {
	far, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.to)
	if err != nil {
		c.Close()
		return
	}
	w.mu.Lock()
	w.ends = append(w.ends, c, far)
	isCut := w.isCut
	w.mu.Unlock()
	if isCut {
		w.cut()
	}
	work.Go(func() { _, _ = io.Copy(far, c); far.Close() })
	_, _ = io.Copy(c, far)
	c.Close()
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	for _, end := range w.ends {
		end.Close()
	}
	w.ends = nil
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = false
}
