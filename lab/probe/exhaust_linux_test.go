package probe_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"muster/lab/probe"
	"muster/lab/results"
)

// exhaust skips the test if the machine lacks threads, unless MUSTER_REQUIRE=all requires it.
func exhaust(t *testing.T, limit int, command ...string) results.Sample {
	t.Helper()
	s, err := try(t, probe.Exhaust{Limit: limit}, command...)
	if err != nil && strings.Contains(err.Error(), "cannot be measured here") && os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The runtime ends the program with status 2, at its limit. Exhaust also reports a process that
// ends in another way.
func TestExhaust(t *testing.T) {
	const limit = 40
	s := exhaust(t, limit, self(t, probe.Block{Limit: limit})...)
	status, _ := s.Value(results.Status)
	if threads, _ := s.Value(results.Threads); status != 2 || threads > limit || threads < limit/2 {
		t.Errorf("%+v", s)
	}
	s = exhaust(t, limit, "sh", "-c", "exit 3")
	if status, ok := s.Value(results.Status); !ok || status != 3 {
		t.Errorf("%+v", s)
	}
}

func TestExhaustThatCannot(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	_, err := tryIn(ctx, t.TempDir(), probe.Exhaust{Limit: 10}, "sleep", "1000")
	if !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "cannot be measured here") {
		t.Errorf("interrupted: %v", err)
	}
	// A limit that exceeds any machine is rejected before anything starts.
	if _, err := try(t, probe.Exhaust{Limit: math.MaxInt32}, "none"); err == nil || !strings.Contains(err.Error(), "cannot be measured here") {
		t.Errorf("%d threads: %v", math.MaxInt32, err)
	}
}

// The process ends when the watching process dies, because its pipe closes.
func TestBlockAlone(t *testing.T) {
	command := self(t, probe.Block{Limit: 100})
	c := exec.CommandContext(t.Context(), command[0], command[1:]...) // standard input is /dev/null
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "pipe closed") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}
