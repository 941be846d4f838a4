package service

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// start runs a service beside the test. The returned function ends it and returns its error.
func start(t *testing.T, h http.Handler, o Options) (addr, admin string, end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	o.Ready = func(a, b net.Addr) {
		addr = a.String()
		if b != nil {
			admin = b.String()
		}
		close(ready)
	}
	go func() { ended <- Run(ctx, h, o) }()
	end = func() error { cancel(); return <-ended }
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(cancel)
	return addr, admin, end
}

func dial(t *testing.T, addr, text string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

// A client that sends its head byte by byte, or is idle after a request, is disconnected.
func TestSlowHeads(t *testing.T) {
	addr, _, _ := start(t, http.HandlerFunc(hello), Options{headTime: 30 * time.Millisecond, Idle: 30 * time.Millisecond})
	for _, head := range []string{"GET / HTTP/1.1\r\nHo", "", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
		c := dial(t, addr, head)
		if _, err := io.ReadAll(c); err != nil { // until the server closes
			t.Errorf("%q: %v", head, err)
		}
	}
}

func TestLargeHead(t *testing.T) {
	addr, _, _ := start(t, http.HandlerFunc(hello), Options{})
	c := dial(t, addr, "GET / HTTP/1.1\r\nHost: localhost\r\n")
	go func() {
		for range 200 { // it closes before all is sent
			if _, err := io.WriteString(c, "X: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
				return
			}
		}
	}()
	got, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	if got.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Error(got.Status)
	}
}

// Connections beyond the limit wait for others to end.
func TestConnectionsMax(t *testing.T) {
	addr, _, _ := start(t, http.HandlerFunc(hello), Options{ConnectionsMax: 2})
	const request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	first := dial(t, addr, request)
	second := dial(t, addr, request)
	for _, c := range []net.Conn{first, second} {
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
			t.Fatal(err)
		}
	}
	third := dial(t, addr, request)
	answered := make(chan error, 1)
	go func() {
		_, err := http.ReadResponse(bufio.NewReader(third), nil)
		answered <- err
	}()
	first.Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// The end waits for running requests and accepts no new ones.
func TestEndsGracefully(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	addr, _, end := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-goOn
		hello(w, r)
	}), Options{})
	c := dial(t, addr, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-begun
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	for { // until the listener is closed
		other, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			break
		}
		other.Close()
	}
	close(goOn)
	got, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(got.Body); string(text) != "hello" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestEndsInTheEnd(t *testing.T) {
	begun, ended, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	addr, _, end := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		defer close(done)
		close(begun)
		<-r.Context().Done()
		select { // long enough to detect a Run that does not wait
		case <-ended:
			t.Error("the service has ended, and its handler has not")
		case <-time.After(50 * time.Millisecond):
		}
	}), Options{Grace: time.Millisecond})
	dial(t, addr, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-begun
	if err := end(); err == nil || !strings.Contains(err.Error(), "were broken off") {
		t.Error(err)
	}
	close(ended)
	<-done
}

// HTTP/2 must not let a client make the server buffer a megabyte per connection: its settings
// limit how much it accepts unasked.
func TestStreamsAreBounded(t *testing.T) {
	addr, _, _ := start(t, http.HandlerFunc(hello), Options{})
	c := dial(t, addr, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00") // and no settings
	head := make([]byte, 9)
	if _, err := io.ReadFull(c, head); err != nil || head[3] != 4 {
		t.Fatalf("%x, %v", head, err)
	}
	settings := make([]byte, int(head[1])<<8|int(head[2]))
	if _, err := io.ReadFull(c, settings); err != nil {
		t.Fatal(err)
	}
	got := map[uint16]uint32{}
	for ; len(settings) >= 6; settings = settings[6:] {
		got[binary.BigEndian.Uint16(settings)] = binary.BigEndian.Uint32(settings[2:])
	}
	const initialWindow, maxFrame = 4, 5
	if got[initialWindow] != streamBytesMax || got[maxFrame] != frameBytesMax {
		t.Errorf("%v", got)
	}
}

func TestRefusesAddresses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string // "" = it is possible
	}{
		{Options{Addr: "127.0.0.1:0"}, ""},
		{Options{Addr: "[::1]:0"}, ""},
		{Options{Addr: "localhost:0"}, ""},
		{Options{Addr: "0.0.0.0:0"}, ErrOpen.Error()},
		{Options{Addr: ":0"}, ErrOpen.Error()},
		{Options{Addr: "localhost.example.org:0"}, ErrOpen.Error()},
		{Options{Addr: ":0", Authorized: true}, ""},
		{Options{Addr: ":0", Anybody: true}, ""},
		{Options{Addr: "9999"}, "HOST:PORT"},
		{Options{Addr: "127.0.0.1:99999"}, "HOST:PORT"},
		{Options{Addr: "127.0.0.1:0", Admin: "127.0.0.1:many"}, "HOST:PORT"},
		{Options{Addr: "[::ffff:127.0.0.1]:0"}, ""},
		{Options{Addr: "[::ffff:10.0.0.1]:0"}, ErrOpen.Error()},
		{Options{Addr: "127.1:0"}, ErrOpen.Error()},
		{Options{Addr: "127.0.0.1:0", Admin: ":0"}, "use an address of this machine"},
		{Options{Addr: ":0", Authorized: true, Admin: "10.0.0.1:0"}, "use an address of this machine"},
	} {
		err := c.o.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// A failing listener ends the whole service.
func TestPortTaken(t *testing.T) {
	addr, _, _ := start(t, http.HandlerFunc(hello), Options{})
	if err := Run(t.Context(), http.HandlerFunc(hello), Options{Addr: addr}); err == nil {
		t.Error("two services on one port")
	}
	if err := Run(t.Context(), http.HandlerFunc(hello), Options{Addr: "127.0.0.1:0", Admin: addr}); err == nil {
		t.Error("two pages on one port")
	}
}

func TestAdmin(t *testing.T) {
	m := NewMeter(nil)
	sick := errors.New("the disk is gone")
	healthy := true
	addr, admin, _ := start(t, m.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/none":
			http.NotFound(w, r)
		case "/broken":
			panic(http.ErrAbortHandler)
		default:
			hello(w, r)
		}
	})), Options{Admin: "127.0.0.1:0", AdminHandler: NewAdmin(m, func(context.Context) error {
		if healthy {
			return nil
		}
		return sick
	})})
	for _, path := range []string{"/", "/none", "/broken"} {
		_, _ = ask(t, addr, path) // one of them has no answer
	}
	if status, _ := ask(t, admin, "/healthz"); status != http.StatusOK {
		t.Error(status)
	}
	healthy = false
	if status, text := ask(t, admin, "/healthz"); status != http.StatusServiceUnavailable || !strings.Contains(text, sick.Error()) {
		t.Error(status, text)
	}
	_, figures := ask(t, admin, "/metrics")
	for _, want := range []string{
		`muster_requests_total{method="GET",status="2xx"} 1`, `muster_requests_total{method="GET",status="4xx"} 1`,
		`muster_requests_total{method="GET",status="broken"} 1`, "muster_requests_running 0", "muster_os_threads ", "go_goroutines ",
	} {
		if !strings.Contains(figures, want) {
			t.Errorf("no %s in:\n%s", want, figures)
		}
	}
}

func ask(t *testing.T, addr, path string) (status int, text string) {
	t.Helper()
	c := dial(t, addr, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	got, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, ""
	}
	all, _ := io.ReadAll(got.Body)
	return got.StatusCode, string(all)
}

// A request that came by a name that is not this machine's is refused, unless others may
// come.
func TestNamesOfOthers(t *testing.T) {
	for _, c := range []struct {
		o    Options
		host string
		want int
		page int // of the operator
	}{
		{Options{}, "localhost:80", 200, 200}, {Options{}, "127.0.0.1", 200, 200}, {Options{}, "[::1]:9", 200, 200},
		{Options{}, "evil.example", 421, 421}, {Options{}, "127.0.0.1.evil.example:80", 421, 421}, {Options{}, "", 421, 421},
		{Options{Authorized: true}, "files.example", 200, 421}, {Options{Anybody: true}, "files.example:9", 200, 421},
	} {
		o := c.o
		o.Admin, o.AdminHandler = "127.0.0.1:0", http.HandlerFunc(hello)
		addr, admin, end := start(t, http.HandlerFunc(hello), o)
		for at, want := range map[string]int{addr: c.want, admin: c.page} {
			got, err := http.ReadResponse(bufio.NewReader(dial(t, at, "GET / HTTP/1.1\r\nHost: "+c.host+"\r\nConnection: close\r\n\r\n")), nil)
			if err != nil {
				t.Fatal(err)
			}
			got.Body.Close()
			if got.StatusCode != want {
				t.Errorf("%+v, host %q: %s, not %d", c.o, c.host, got.Status, want)
			}
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	}
}
