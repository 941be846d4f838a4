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

// exhaust skips the test if the machine lacks threads, unless MUSTER_REQUIRE=all requires it.
func exhaust(t *testing.T, o probe.ExhaustOptions) probe.ExhaustResult {
	t.Helper()
	e, err := probe.Exhaust(t.Context(), o)
	if none := (*probe.UnmeasurableError)(nil); errors.As(err, &none) && os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The runtime ends the program with its own message and status 2.
func TestExhaust(t *testing.T) {
	const limit = 40
	e := exhaust(t, probe.ExhaustOptions{Command: []string{self(t), childArgument, strconv.Itoa(limit)}, Limit: limit})
	for _, words := range []string{"program exceeds 40-thread limit", "fatal error: thread exhaustion"} {
		if !strings.Contains(e.Output, words) {
			t.Errorf("output %q, want %q", e.Output, words)
		}
	}
	if e.Status != 2 || e.Threads > limit || e.Threads < limit/2 || e.Wall <= 0 {
		t.Errorf("%+v", e)
	}
}

// Exhaust also reports a process that ends in another way.
func TestExhaustOther(t *testing.T) {
	e := exhaust(t, probe.ExhaustOptions{Command: []string{"sh", "-c", "echo no such luck >&2; exit 3"}, Limit: 10})
	if e.Status != 3 || e.Output != "no such luck" || e.Threads != 0 {
		t.Errorf("%+v", e)
	}
	if _, err := probe.Exhaust(t.Context(), probe.ExhaustOptions{Limit: 10}); err == nil {
		t.Error("an empty command is accepted")
	}
}

// Nothing outlives Exhaust: neither a process that never ends, nor a background child of it.
// Each holds the write end of a pipe.
func TestExhaustBounded(t *testing.T) {
	exhaust(t, probe.ExhaustOptions{Command: []string{"true"}, Limit: 10}) // skip if it is impossible here
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
		if late := err != nil && strings.Contains(err.Error(), "within 1s"); !late && e.Status != 3 {
			t.Errorf("a process that %s: %+v, %v", what, e, err)
		}
		if text, err := io.ReadAll(pipe); string(text) != "started\n" || err != nil {
			t.Errorf("a process that %s printed %q, %v", what, text, err)
		}
	}
}

func TestExhaustInterrupted(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	_, err := probe.Exhaust(ctx, probe.ExhaustOptions{Command: []string{"sleep", "1000"}, Limit: 10})
	if none := (*probe.UnmeasurableError)(nil); !errors.Is(err, context.Canceled) && !errors.As(err, &none) {
		t.Errorf("interrupted: %v", err)
	}
}

// Exhaust rejects a limit that exceeds any machine before it starts anything.
func TestExhaustTooMany(t *testing.T) {
	_, err := probe.Exhaust(t.Context(), probe.ExhaustOptions{Command: []string{"none"}, Limit: math.MaxInt32})
	if none := (*probe.UnmeasurableError)(nil); !errors.As(err, &none) {
		t.Errorf("%d threads: %v", math.MaxInt32, err)
	}
}

// The process ends when the watching process dies, because its pipe closes.
func TestBlockThreadsAlone(t *testing.T) {
	c := exec.CommandContext(t.Context(), self(t), childArgument, "100") // standard input is /dev/null
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "pipe closed") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}
