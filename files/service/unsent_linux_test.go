package service

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// The system buffers only a few unsent bytes of a connection.
func TestUnsent(t *testing.T) {
	o := Options{Addr: "127.0.0.1:0", ConnectionsMax: 1}
	l, err := o.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
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
	var got int
	if e := ours.(*connection).raw.Control(func(fd uintptr) {
		got, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT)
	}); e != nil || err != nil || got != unsentMax {
		t.Errorf("%d, %v, %v", got, e, err)
	}
}
