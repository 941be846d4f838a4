package load_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"muster/files/load"
)

// The count of a process includes its descendants.
func TestThreadsOfAFamily(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counted on Linux only")
	}
	// Three shells of one thread each, the last of which waits for the end of its input.
	command := exec.CommandContext(t.Context(), "/bin/sh", "-c", `/bin/sh -c '/bin/sh -c "echo ready; read x"; true'; true`)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ready := bufio.NewReader(out)
	if line, err := ready.ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	url := odd(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0)
	o := load.Options{URL: url, Op: load.Exist, Connections: 1, Requests: 10, Threads: load.Threads{PID: command.Process.Pid}}
	if r := run(t, o); r.ThreadsPeak != 3 {
		t.Errorf("%d threads, want 3", r.ThreadsPeak)
	}
	o.Threads.PID = os.Getpid()
	if r := run(t, o); r.ThreadsPeak < 4 {
		t.Errorf("this process and that have %d threads", r.ThreadsPeak)
	}
	in.Close()
	if _, err := io.Copy(io.Discard, ready); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	o.Threads.PID = command.Process.Pid
	if _, err := load.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "threads cannot be counted") {
		t.Errorf("%v of a process that has ended", err)
	}
}

// A load ends even if the server's metrics never arrive.
func TestThreadsThatNobodyTells(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done() // of the client
	}))
	defer silent.Close()
	url := odd(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0)
	o := load.Options{URL: url, Op: load.Exist, Connections: 1, Requests: 10, Threads: load.Threads{Admin: silent.URL}}
	if r, err := load.Run(ctx, o); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}
