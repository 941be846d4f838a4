package reapitest

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Installed starts an installed real engine at a port of this machine, with its files in
// folder. script is the path of scripts/remote-engine. The engine ends with the test, or
// earlier by the returned function. If no engine is installed the test is skipped, unless
// MUSTER_REQUIRE is all.
func Installed(t *testing.T, script, port, folder string) (stop func()) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the engine is a program for Linux")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, script, "run", port, folder)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it was killed
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	for {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			conn.Close()
			return stop
		}
		select {
		case <-ended:
			if os.Getenv("MUSTER_REQUIRE") == "all" || !strings.Contains(output.String(), "not installed") {
				t.Fatal(output.String())
			}
			t.Skip(output.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// FreePort returns a port that is free now.
func FreePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
