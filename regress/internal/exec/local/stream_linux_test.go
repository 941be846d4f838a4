package local

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pipeStream is one end of a pipe, and the other.
func pipeStream(t *testing.T) (in, out *os.File, s *stream) {
	t.Helper()
	var fds [2]int
	must(t, syscall.Pipe2(fds[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK))
	in, out = os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "out")
	t.Cleanup(func() { in.Close(); out.Close() })
	conn, err := in.SyscallConn()
	must(t, err)
	return in, out, newStream(conn)
}

// TestStream: what is written comes out, of any length, and then the end.
func TestStream(t *testing.T) {
	_, out, s := pipeStream(t)
	for _, size := range []int{0, 1, 5 << 20} { // the last fills the pipe many times
		sent := bytes.Repeat([]byte("0123456789abcdef!"), size/17+1)[:size]
		wrote := make(chan error, 1)
		go func() {
			_, err := out.Write(sent)
			wrote <- err
		}()
		got := make([]byte, size)
		_, err := io.ReadFull(s, got)
		must(t, err)
		must(t, <-wrote)
		if !bytes.Equal(got, sent) {
			t.Errorf("%d bytes came out as others", size)
		}
	}
	must(t, out.Close())
	if n, err := s.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

// awaitReader returns when a goroutine waits in a stream's Read.
func awaitReader(t *testing.T) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		for one := range bytes.SplitSeq(stacks[:runtime.Stack(stacks, true)], []byte("\n\n")) {
			if bytes.Contains(one, []byte(" [IO wait")) && bytes.Contains(one, []byte(".(*stream).Read(")) {
				return
			}
		}
	}
	t.Fatal("nothing waits for a stream")
}

// TestStreamUnblocked: closing the file and its deadline end what waits.
func TestStreamUnblocked(t *testing.T) {
	for want, stop := range map[string]func(*os.File) error{
		"closed":  (*os.File).Close,
		"timeout": func(f *os.File) error { return f.SetReadDeadline(time.Now()) },
	} {
		in, _, s := pipeStream(t)
		ended := make(chan error, 1)
		go func() {
			_, err := s.Read(make([]byte, 1))
			ended <- err
		}()
		awaitReader(t)
		must(t, stop(in))
		if err := <-ended; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("ended with %v, want %v", err, want)
		}
	}
}
