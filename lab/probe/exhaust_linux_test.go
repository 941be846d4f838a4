package probe_test

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/lab/probe"
)

// exhaust skips where the machine has too few threads to spare: MUSTER_REQUIRE=all says
// that nothing may be missing.
func exhaust(t *testing.T, o probe.ExhaustOptions) probe.Exhausted {
	t.Helper()
	e, err := probe.Exhaust(t.Context(), o)
	if none := (*probe.CannotTell)(nil); errors.As(err, &none) && os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The runtime ends the program: its own words, and status 2.
func TestExhaust(t *testing.T) {
	const limit = 40
	e := exhaust(t, probe.ExhaustOptions{Command: []string{self(t), childArgument, strconv.Itoa(limit)}, Limit: limit})
	for _, words := range []string{"program exceeds 40-thread limit", "fatal error: thread exhaustion"} {
		if !strings.Contains(e.Said, words) {
			t.Errorf("it said %q, want %q", e.Said, words)
		}
	}
	if e.Status != 2 || e.Limit != limit || e.Threads > limit || e.Threads < limit/2 || e.Wall <= 0 {
		t.Errorf("%+v", e)
	}
}

// A process that ends in another way is told of as it is.
func TestExhaustOther(t *testing.T) {
	e := exhaust(t, probe.ExhaustOptions{Command: []string{"sh", "-c", "echo no such luck >&2; exit 3"}, Limit: 10})
	if e.Status != 3 || e.Said != "no such luck" || e.Threads != 0 {
		t.Errorf("%+v", e)
	}
	if _, err := probe.Exhaust(t.Context(), probe.ExhaustOptions{Limit: 10}); err == nil {
		t.Error("no command is none to be started")
	}
}

// Nothing outlives Exhaust: neither a process that never ends, nor what one has started
// and left. Each holds the writing end of a pipe.
func TestExhaustBounded(t *testing.T) {
	exhaust(t, probe.ExhaustOptions{Command: []string{"true"}, Limit: 10}) // is it possible at all?
	for what, script := range map[string]string{
		"never ends":         `exec 9>"$0"; echo started >&9; sleep 1000 & wait`,
		"leaves another one": `exec 9>"$0"; echo started >&9; sleep 1000 >/dev/null 2>&1 & exit 3`,
	} {
		name := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		pipe, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer pipe.Close()
		e, err := probe.Exhaust(t.Context(), probe.ExhaustOptions{
			Command: []string{"sh", "-c", script, name}, Limit: 10, Patience: time.Second,
		})
		if late := err != nil && strings.Contains(err.Error(), "still ran after 1s"); !late && e.Status != 3 {
			t.Errorf("a process that %s: %+v, %v", what, e, err)
		}
		if text, err := io.ReadAll(pipe); string(text) != "started\n" || err != nil {
			t.Errorf("a process that %s said %q, %v", what, text, err)
		}
	}
}

func TestExhaustInterrupted(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	_, err := probe.Exhaust(ctx, probe.ExhaustOptions{Command: []string{"sleep", "1000"}, Limit: 10})
	if none := (*probe.CannotTell)(nil); !errors.Is(err, context.Canceled) && !errors.As(err, &none) {
		t.Errorf("interrupted: %v", err)
	}
}

// More than any machine has is refused before anything is started.
func TestExhaustTooMany(t *testing.T) {
	_, err := probe.Exhaust(t.Context(), probe.ExhaustOptions{Command: []string{"none"}, Limit: math.MaxInt32})
	if none := (*probe.CannotTell)(nil); !errors.As(err, &none) {
		t.Errorf("%d threads: %v", math.MaxInt32, err)
	}
}

// The process ends when the one that watches it is no more: its pipe is closed then.
func TestBlockThreadsAlone(t *testing.T) {
	c := exec.CommandContext(t.Context(), self(t), childArgument, "100") // from /dev/null
	var said strings.Builder
	c.Stderr = &said
	if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "pipe was closed") {
		t.Errorf("%v: %s", err, said.String())
	}
}
