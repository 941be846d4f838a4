package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/lab/postgres"
)

// folder returns an empty folder with a short path that the server's user may enter. Start makes the
// server's folder there.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "muster-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("TMPDIR", dir)
	return dir
}

// start starts a server. It skips the test if PostgreSQL is not installed, unless
// MUSTER_REQUIRE=all requires it.
func start(t *testing.T, ctx context.Context) *postgres.Server {
	t.Helper()
	s, err := postgres.Start(ctx)
	if none := (*postgres.Missing)(nil); errors.As(err, &none) && os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stop(t *testing.T, s *postgres.Server) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// socket returns the path of the server's socket in the folder.
func socket(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", ".s.PGSQL.5432"))
	if err != nil || len(found) != 1 {
		t.Fatalf("sockets %q, %v", found, err)
	}
	return found[0]
}

// connect returns when a process of the server serves the connection.
func connect(t *testing.T, socket string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	// The server answers no to a request for TLS.
	answer := make([]byte, 1)
	if _, err := c.Write([]byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(answer); err != nil || answer[0] != 'N' {
		t.Fatalf("asked for TLS, the server answers %q, %v", answer, err)
	}
	return c
}

func expectEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

func TestStartAndStop(t *testing.T) {
	dir := folder(t)
	s := start(t, t.Context())
	at := socket(t, dir)
	if want := "host='" + filepath.Dir(at) + "' user=muster dbname=postgres"; s.DSN() != want {
		t.Errorf("DSN is %s, want %s", s.DSN(), want)
	}
	c := connect(t, at)
	stop(t, s)
	stop(t, s)
	// The server's process for this connection has ended too.
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Error(err)
	}
	expectEmpty(t, dir)
}

// The end of the context ends the server and removes its folder, without Stop.
func TestContextEnds(t *testing.T) {
	dir := folder(t)
	ctx, end := context.WithCancel(t.Context())
	s := start(t, ctx)
	c := connect(t, socket(t, dir))
	end()
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Error(err)
	}
	stop(t, s)
	expectEmpty(t, dir)
}

func TestContextEnded(t *testing.T) {
	dir := folder(t)
	stop(t, start(t, t.Context())) // skip if no server is installed
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := postgres.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	expectEmpty(t, dir)
}

// PostgreSQL's own error is part of ours.
func TestRefused(t *testing.T) {
	bin := folder(t)
	dir := folder(t)
	for program, script := range map[string]string{"initdb": "exit 0", "postgres": "echo 'FATAL:  there is no memory' >&2; exit 1"} {
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	if _, err := postgres.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "FATAL:  there is no memory") {
		t.Error(err)
	}
	expectEmpty(t, dir)
}
