package lane

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// streams are the two ends of a socket.
func streams(t *testing.T) (files [2]*os.File, ends [2]*Stream) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	must(t, err)
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "end")
		conn, err := files[i].SyscallConn()
		must(t, err)
		ends[i] = NewStream(conn)
		t.Cleanup(func() { files[i].Close() })
	}
	return files, ends
}

// TestStream: what is written comes out, of any length, and then the end.
func TestStream(t *testing.T) {
	files, ends := streams(t)
	for _, size := range []int{0, 1, 5 << 20} { // the last fills the socket many times
		sent := bytes.Repeat([]byte("0123456789abcdef!"), size/17+1)[:size]
		wrote := make(chan error, 1)
		go func() {
			n, err := ends[0].Write(sent)
			if err == nil && n != size {
				err = io.ErrShortWrite
			}
			wrote <- err
		}()
		got := make([]byte, size)
		_, err := io.ReadFull(ends[1], got)
		must(t, err)
		must(t, <-wrote)
		if !bytes.Equal(got, sent) {
			t.Errorf("%d bytes came out as others", size)
		}
	}
	must(t, files[0].Close())
	if n, err := ends[1].Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if _, err := ends[1].Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("written to nobody: %v", err)
	}
}

// TestStreamUnblocked: closing the file and its deadline end what waits.
func TestStreamUnblocked(t *testing.T) {
	for want, stop := range map[string]func(*os.File) error{
		"closed":  (*os.File).Close,
		"timeout": func(f *os.File) error { return f.SetDeadline(time.Now()) },
	} {
		for _, wait := range []func(*Stream) error{
			func(s *Stream) error { _, err := s.Read(make([]byte, 1)); return err },
			func(s *Stream) error { _, err := s.Write(make([]byte, 5<<20)); return err },
		} {
			files, ends := streams(t)
			ended := make(chan error, 1)
			go func() { ended <- wait(ends[0]) }()
			must(t, stop(files[0]))
			if err := <-ended; !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("ended with %v, want %v", err, want)
			}
		}
	}
}
