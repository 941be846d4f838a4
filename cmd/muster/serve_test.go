package main_test

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// server is "muster serve" beside a test.
type server struct {
	*exec.Cmd
	url   string
	lines *bufio.Reader // its output after it listens
}

// startServer starts the program in a folder, and returns its address.
func startServer(t *testing.T, bin string, args ...string) string {
	t.Helper()
	return newServer(t, bin, args...).url
}

// newServer starts a server at a free port. It ends with the test.
func newServer(t *testing.T, bin string, args ...string) *server {
	t.Helper()
	words := append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)
	s := &server{Cmd: exec.CommandContext(t.Context(), filepath.Join(bin, "muster"), words...)}
	s.Cancel = func() error { return s.Process.Signal(syscall.SIGTERM) }
	said, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Process.Signal(syscall.SIGTERM) // it may have ended already
		_, _ = io.Copy(io.Discard, s.lines)
		_ = s.Wait()
	})
	s.lines = bufio.NewReader(said)
	for all := ""; ; {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the server ended: %v\n%s", err, all)
		}
		all += line
		if url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on "); ok {
			s.url = url
			return s
		}
	}
}
