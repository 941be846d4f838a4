package main_test

import (
	"io"
	"os"
	"os/exec"
	ossignal "os/signal"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// background is a command that runs beside the script.
type background struct {
	*exec.Cmd
	ended chan error
}

// begin starts a command, and returns once one of its cases has written to the named pipe
// $READY. Later cases find no pipe, so they know that nobody waits.
func begin(ts *testscript.TestScript, args []string, stdout, stderr io.Writer) *background {
	pipe := ts.Getenv("READY")
	ts.Check(syscall.Mkfifo(pipe, 0o666))
	// opened for both directions and without blocking, so that neither end waits for the other
	ready, err := os.OpenFile(pipe, os.O_RDWR|syscall.O_NONBLOCK, 0)
	ts.Check(err)
	ts.Check(ts.Exec("env", "-0"))
	// through env, which searches the script's PATH and not the test's
	b := &background{exec.CommandContext(testOf(ts).Context(), "env", args...), make(chan error, 1)}
	b.Env = strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")
	b.Dir = ts.MkAbs(".")
	b.Stdout, b.Stderr = stdout, stderr
	ts.Check(b.Start())
	go func() {
		b.ended <- b.Wait()
		ready.Close() // the reader of the pipe has waited in vain
	}()
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		ts.Fatalf("%s ended before any of its cases wrote to $READY: %v", args[0], <-b.ended)
	}
	ts.Check(os.Remove(pipe))
	return b
}

func signal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}
	if len(args) < 2 || signals[args[0]] == 0 {
		ts.Fatalf("usage: [!] signal INT|TERM|HUP|KILL command [args...]")
	}
	// A program that nohup starts ignores HUP, and so does what it starts. What these tests start must not.
	heard := make(chan os.Signal, 1)
	ossignal.Notify(heard, syscall.SIGHUP)
	defer ossignal.Stop(heard)
	b := begin(ts, args[1:], ts.Stdout(), ts.Stderr())
	ts.Check(b.Process.Signal(signals[args[0]]))
	err := <-b.ended
	if args[0] == "KILL" {
		return
	}
	want := 130
	if neg { // the run failed before
		want = 3
	}
	if got := b.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%v after SIG%s, not exit status %d", err, args[0], want)
	}
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: await command [args...]")
	}
	b := begin(ts, args, nil, nil)
	ts.Defer(func() {
		_ = b.Process.Signal(syscall.SIGTERM) // it may have ended already
		<-b.ended
	})
}
