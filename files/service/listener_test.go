package service

import (
	"errors"
	"net"
	"net/http"
	"testing"

	"golang.org/x/net/nettest"
)

// A connection behaves like the standard library's.
func TestConnection(t *testing.T) {
	nettest.TestConn(t, func() (ours, theirs net.Conn, stop func(), err error) {
		plain, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, nil, err
		}
		l := newListener(plain, 1)
		theirs, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			return nil, nil, nil, errors.Join(err, l.Close())
		}
		if ours, err = l.Accept(); err != nil {
			return nil, nil, nil, errors.Join(err, theirs.Close(), l.Close())
		}
		return ours, theirs, func() { ours.Close(); theirs.Close(); l.Close() }, nil
	})
}

// Accept returns when the listener is closed, also while it waits for a connection to end.
func TestListenerCloses(t *testing.T) {
	plain, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newListener(plain, 1)
	theirs, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	ours, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	ended := make(chan error)
	go func() {
		_, err := l.Accept() // there is no place for another
		ended <- err
	}()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// A write after More arrives even if no other write follows.
func TestMore(t *testing.T) {
	addr, _, _ := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		More(r.Context())
		hello(w, r)
	}), Options{})
	for range 3 {
		if status, text := ask(t, addr, "/"); status != http.StatusOK || text != "hello" {
			t.Errorf("%d, %q", status, text)
		}
	}
	More(t.Context()) // which has no connection
}
