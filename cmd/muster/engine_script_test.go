package main_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// engine starts the engine of the Remote Execution API that scripts/remote-engine installs,
// with further options. The variable NAME is then its address. It ends with the script, or by
// "engine NAME end", after which it can be started again at the same address.
func engine(ts *testscript.TestScript, neg bool, args []string) {
	engines, ok := ts.Value(enginesKey{}).(map[string]*engineProcess)
	if neg || !ok || len(args) < 1 {
		ts.Fatalf("usage: engine NAME [end | option...]")
	}
	if testing.Short() && !race { // CI runs these scripts in full, and under the race detector
		testOf(ts).Skip("a real engine takes long")
	}
	name := args[0]
	e := engines[name]
	if len(args) == 2 && args[1] == "end" {
		e.end()
		return
	}
	if e == nil {
		e = &engineProcess{ctx: testOf(ts).Context(), folder: ts.MkAbs(".engine-" + name)}
		ts.Check(e.choosePort())
		engines[name] = e
		ts.Setenv(name, "grpc://"+e.host())
		ts.Defer(func() {
			e.end()
			e.endSandboxes()
		})
	}
	e.options = args[1:]
	err := e.start()
	if errors.Is(err, errNotInstalled) && os.Getenv("MUSTER_REQUIRE") != "all" {
		testOf(ts).Skip(err.Error())
	}
	ts.Check(err)
}

// enginesKey is where a script's values hold its engines by name.
type enginesKey struct{}

// engineProcess is an engine that can be killed and started again. Its methods may be
// called by any goroutine.
type engineProcess struct {
	ctx          context.Context
	port, folder string
	options      []string

	mu    sync.Mutex
	ended chan struct{} // nil before the first start
	kill  context.CancelFunc
}

var errNotInstalled = errors.New("no engine")

func (e *engineProcess) host() string { return "127.0.0.1:" + e.port }

func (e *engineProcess) choosePort() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	_, e.port, err = net.SplitHostPort(l.Addr().String())
	return err
}

// start returns once the engine answers.
func (e *engineProcess) start() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx, kill := context.WithCancel(e.ctx)
	// a FUSE mount would outlive the engine's kill
	options := append([]string{"run", e.port, e.folder, "--runner-arg=--staging-mode=copy-or-link"}, e.options...)
	cmd := exec.CommandContext(ctx, "../../scripts/remote-engine", options...)
	said, err := e.log()
	if err != nil {
		kill()
		return err
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		kill()
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it was killed
	}()
	e.ended, e.kill = ended, kill
	for {
		if conn, err := net.Dial("tcp", e.host()); err == nil {
			return conn.Close()
		}
		select {
		case <-ended:
			return e.why()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// log returns a file, because a pipe would end only with the last of the engine's actions.
func (e *engineProcess) log() (*os.File, error) {
	if err := os.MkdirAll(e.folder, 0o755); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(e.folder, "log"))
}

// why returns the last output of an engine that ended.
func (e *engineProcess) why() error {
	said, err := os.ReadFile(filepath.Join(e.folder, "log"))
	if strings.Contains(string(said), "not installed") {
		err = errNotInstalled
	}
	return errors.Join(err, errors.New(string(said)))
}

// end kills the engine if it runs.
func (e *engineProcess) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kill != nil {
		e.kill()
		<-e.ended
	}
}

// endSandboxes kills sandboxes of actions that the engine's kill left. A sandbox asks to die
// with its parent. If the parent ends before that, the sandbox waits for ever.
func (e *engineProcess) endSandboxes() {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file) // it may have ended already
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if strings.Contains(string(line), e.folder+"/") && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
