package pace_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/files/internal/pace"
)

// A client has the slack plus the time that its bytes give back, never more than the slack.
func TestMoved(t *testing.T) {
	p := pace.New(1000, 5*time.Second)
	for _, c := range []struct {
		bytes  int
		waited time.Duration
		left   time.Duration
	}{
		{0, 2 * time.Second, 3 * time.Second},
		{500, 2 * time.Second, 1500 * time.Millisecond},
		{1 << 40, time.Hour, 5 * time.Second},
		{0, 6 * time.Second, -time.Second},
	} {
		if p.Record(c.bytes, c.waited); p.Left != c.left {
			t.Errorf("%+v: %v", c, p.Left)
		}
	}
	fastest := pace.New(pace.RateMax, time.Second)
	fastest.Record(int(pace.RateMax)/2, time.Second)
	if fastest.Left < time.Second/2 {
		t.Errorf("at the largest rate %v are left", fastest.Left)
	}
}

// A write continues while the client reads fast enough, and fails when it does not.
func TestListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for rate, want := range map[int]bool{100: false, 2000: true} {
			here, there := net.Pipe()
			l := pace.Listener(one{there}, 1000)
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			var reader sync.WaitGroup
			reader.Go(func() {
				for err := error(nil); err == nil; time.Sleep(time.Second) {
					_, err = io.CopyN(io.Discard, here, int64(rate))
				}
			})
			if n, err := c.Write(make([]byte, 200_000)); (err == nil) != want {
				t.Errorf("%d bytes a second: %d, %v", rate, n, err)
			}
			here.Close()
			c.Close()
			reader.Wait()
		}
	})
}

// A slow client gets each byte of a reader, although deadlines interrupt the writes.
func TestReadFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		l := pace.Listener(one{readingConn{there}}, 1000)
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		want, got := make([]byte, 200_000), new(bytes.Buffer)
		for i := range want {
			want[i] = byte(i % 251)
		}
		var client sync.WaitGroup
		client.Go(func() {
			for err := error(nil); err == nil; time.Sleep(time.Second) {
				_, err = io.CopyN(got, here, 2000)
			}
		})
		n, err := c.(io.ReaderFrom).ReadFrom(struct{ io.Reader }{bytes.NewReader(want)})
		c.Close()
		client.Wait()
		if n != int64(len(want)) || err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%d bytes were sent and %d came, %v", n, got.Len(), err)
		}
	})
}

// readingConn writes what it reads, like a connection of package service.
type readingConn struct{ net.Conn }

func (c readingConn) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// one is a listener with one connection.
type one struct{ net.Conn }

func (o one) Accept() (net.Conn, error) { return o.Conn, nil }
func (one) Addr() net.Addr              { return nil }

// The connection can still close one direction, which net/http does for clients that still send.
func TestCloseWrite(t *testing.T) {
	plain, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := pace.Listener(plain, 1000)
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
	half, ok := ours.(interface{ CloseWrite() error })
	if !ok {
		t.Fatal("the connection has no CloseWrite")
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the client reads %v", err)
	}
	if _, err := theirs.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := ours.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
}
