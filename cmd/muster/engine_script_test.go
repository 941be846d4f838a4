package main_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// engine starts the engine of the Remote Execution API that scripts/remote-engine installs;
// the variable NAME is its address then. It ends with the script, or by "engine NAME end".
func engine(ts *testscript.TestScript, neg bool, args []string) {
	engines, ok := ts.Value(enginesKey{}).(map[string]func())
	if neg || !ok || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: engine NAME [end]")
	}
	name := args[0]
	if len(args) == 2 {
		engines[name]()
		return
	}
	address := ts.Getenv(name)
	if address == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		address = "grpc://" + l.Addr().String()
		ts.Check(l.Close())
		ts.Setenv(name, address)
	}
	host := strings.TrimPrefix(address, "grpc://")
	_, port, err := net.SplitHostPort(host)
	ts.Check(err)
	cmd := exec.CommandContext(testOf(ts).Context(), "../../scripts/remote-engine", "run", port, ts.MkAbs(".engine-"+name))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	ts.Check(os.MkdirAll(ts.MkAbs(".engine-"+name), 0o755))
	ts.Check(cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // that it was killed
	}()
	engines[name] = func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
	}
	ts.Defer(engines[name])
	for {
		if conn, err := net.Dial("tcp", host); err == nil {
			conn.Close()
			return
		}
		select {
		case <-ended:
			if os.Getenv("MUSTER_REQUIRE") == "all" || !strings.Contains(said.String(), "not installed") {
				ts.Fatalf("%s", said.String())
			}
			testOf(ts).Skip(said.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// enginesKey is where a script's values hold what ends its engines.
type enginesKey struct{}
