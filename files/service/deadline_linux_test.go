package service

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/internal/nowait"
)

// connected returns both ends of a connection.
func connected(t *testing.T, rateMin int64) (ours, theirs net.Conn) {
	t.Helper()
	o := Options{Addr: "127.0.0.1:0", ConnectionsMax: 1, RateMin: rateMin}
	l, err := o.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if theirs, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	if ours, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	return ours, theirs
}

// A deadline ends reads that wait and that come later, until it is removed.
func TestDeadline(t *testing.T) {
	ours, theirs := connected(t, 0)
	one := make([]byte, 1)
	read := func(want error) {
		t.Helper()
		if _, err := ours.Read(one); !errors.Is(err, want) {
			t.Errorf("%v, not %v", err, want)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(ours.SetReadDeadline(time.Now().Add(10 * time.Millisecond)))
	read(os.ErrDeadlineExceeded)
	read(os.ErrDeadlineExceeded)
	_, err := theirs.Write([]byte("ab"))
	must(err)
	read(os.ErrDeadlineExceeded) // although there is a byte
	must(ours.SetDeadline(time.Time{}))
	read(nil)
	must(ours.SetReadDeadline(time.Unix(1, 0)))
	read(os.ErrDeadlineExceeded) // although there is a byte
	must(ours.SetReadDeadline(time.Time{}))
	read(nil)
}

// A read gets bytes that arrive before its deadline, even if this process notices them later.
func TestNoticedAfterDeadline(t *testing.T) {
	ours, theirs := connected(t, 0)
	reading := &ours.(*connection).reading
	call := reading.call
	reading.call = func(fd uintptr) bool {
		reading.call = call
		reading.pass()
		ready := call(fd)
		_, err := theirs.Write([]byte("a"))
		if err == nil {
			_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		}
		if err != nil {
			t.Error(err)
		}
		return ready
	}
	if err := ours.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n, err := ours.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// lateListener returns connections whose deadline passes after the first piece has been read.
type lateListener struct{ net.Listener }

func (l lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	reading := &c.(*connection).reading
	call := reading.call
	reading.call = func(fd uintptr) bool {
		ready := call(fd)
		if ready {
			reading.call = call
			reading.pass()
		}
		return ready
	}
	return c, nil
}

// A head that has arrived is answered, even if its time limit passes before the server reads all
// of it. net/http reads heads in two pieces, and refuses the first piece alone as malformed.
func TestHeadReadLate(t *testing.T) {
	o := Options{Addr: "127.0.0.1:0"}
	o.setDefaults()
	l, err := o.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := o.server(http.HandlerFunc(hello))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(lateListener{l}) }()
	c := dial(t, l.Addr().String(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Error(answer.Status)
	}
	server.Close()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// pass has the deadline pass at once.
func (t *transfer) pass() {
	t.deadline.mu.Lock()
	defer t.deadline.mu.Unlock()
	t.deadline.at = time.Unix(1, 0)
}

// announceWaits returns a channel that receives whenever a call begins to wait.
func (t *transfer) announceWaits() <-chan bool {
	call, waits := t.call, make(chan bool, 1)
	t.call = func(fd uintptr) bool {
		ready := call(fd)
		if !ready {
			select {
			case waits <- true:
			default:
			}
		}
		return ready
	}
	return waits
}

// A deadline that is changed while a read waits counts at once.
func TestDeadlineWhileWaiting(t *testing.T) {
	ours, theirs := connected(t, 0)
	c := ours.(*connection)
	waits := c.reading.announceWaits()
	write := func() error {
		_, err := theirs.Write([]byte("a"))
		return err
	}
	for _, test := range []struct {
		end  func() error
		want error
	}{
		{func() error { return ours.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		{write, nil},
		{func() error { // the timer ends before the deadline
			if err := c.TCPConn.SetReadDeadline(time.Unix(1, 0)); err != nil {
				return err
			}
			<-waits
			return write()
		}, nil},
	} {
		if err := ours.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { _, err := ours.Read(make([]byte, 1)); done <- err }()
		<-waits
		if err := test.end(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, test.want) {
			t.Errorf("%v, not %v", err, test.want)
		}
	}
}

// A read that waits makes no further system call once its deadline is set to the past. net/http ends
// a read in this way at each request.
func TestEndedWithoutCall(t *testing.T) {
	ours, _ := connected(t, 0)
	reading := &ours.(*connection).reading
	call, calls := reading.call, 0
	reading.call = func(fd uintptr) bool {
		calls++
		return call(fd)
	}
	waits := reading.announceWaits()
	done := make(chan error, 1)
	go func() { _, err := ours.Read(make([]byte, 1)); done <- err }()
	<-waits
	if err := ours.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// A part of a file arrives whole at a client that reads slowly, and ends early where the file
// does. A client that reads nothing ends it.
func TestSendsFiles(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 500_000)
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, want, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, rate := range []int64{0, 1000} {
		ours, theirs := connected(t, rate)
		got := make(chan []byte, 1)
		go func() {
			all, _ := io.ReadAll(theirs)
			got <- all
		}()
		part := &nowait.Section{File: int(file.Fd()), Offset: 5, Left: int64(len(want))}
		// The system may drop the file from memory, or count too few pages (nowait.Cached). Then ReadFrom ends early.
		var n int64
		for tries := 0; part.Left > 5 && tries < 100 && err == nil; tries++ {
			var some int64
			some, err = ours.(io.ReaderFrom).ReadFrom(part)
			n += some
		}
		if part.Left > 5 && !nowait.InMemory(part.File, part.Offset, min(part.Left, callMax)) {
			rest, writeErr := ours.Write(want[part.Offset:])
			n, part.Left, err = n+int64(rest), 5, errors.Join(err, writeErr)
		}
		if n != int64(len(want)-5) || part.Left != 5 || err != nil {
			t.Errorf("%d, %d, %v", n, part.Left, err)
		}
		if n, err := ours.(io.ReaderFrom).ReadFrom(bytes.NewReader([]byte("end"))); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		ours.Close()
		if all := <-got; !bytes.Equal(all, append(want[5:len(want):len(want)], "end"...)) {
			t.Errorf("%d bytes of %d", len(all), len(want)-5)
		}
	}

	ours, _ := connected(t, 0)
	if err := ours.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for err == nil { // until no more is buffered
		var n int64
		n, err = ours.(io.ReaderFrom).ReadFrom(&nowait.Section{File: int(file.Fd()), Left: int64(len(want))})
		if n == 0 && err == nil { // the system has dropped the file
			_, err = ours.Write(want)
		}
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// A part of a file that the system drops from memory while the client reads slowly is not sent:
// that would wait for the disk.
func TestDroppedFile(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 1_000_000)
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, want, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ours, theirs := connected(t, 0)
	waits := ours.(*connection).writing.announceWaits()
	part := &nowait.Section{File: int(file.Fd()), Left: int64(len(want))}
	done := make(chan error, 1)
	go func() {
		_, err := ours.(io.ReaderFrom).ReadFrom(part)
		done <- errors.Join(err, ours.Close())
	}()
	<-waits
	if err := errors.Join(file.Sync(), unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
		t.Fatal(err)
	}
	kept := nowait.InMemory(int(file.Fd()), int64(len(want)/2), int64(len(want)/2))
	got, err := io.ReadAll(theirs)
	if err := errors.Join(err, <-done); err != nil || !bytes.Equal(got, want[:part.Offset]) {
		t.Errorf("%d bytes of %d: %v", len(got), part.Offset, err)
	}
	if !kept && part.Left < int64(len(want)/2) {
		t.Errorf("%d bytes are left of a file that is not in memory", part.Left)
	}
}
