package probe_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"muster/lab/probe"
	"muster/lab/results"
)

// The runtime ends the program with status 2, at its limit. A process that ends in another way gives no figure.
func TestExhaust(t *testing.T) {
	const limit = 40
	s, err := try(t, probe.Exhaust{Limit: limit}, self(t, probe.Block{Limit: limit})...)
	if err != nil {
		t.Fatal(err)
	}
	for unit, want := range map[string]float64{results.Status: 2, results.Threads: limit, results.ThreadsMax: 10_000} {
		if got, _ := s.Value(unit); got != want {
			t.Errorf("%v %s, want %v", got, unit, want)
		}
	}
	if _, err := try(t, probe.Exhaust{Limit: limit}, "sh", "-c", "echo no thread >&2; exit 3"); err == nil || err.Error() != "exit status 3: no thread" {
		t.Error(err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := tryIn(ctx, t.TempDir(), probe.Exhaust{Limit: 10}, "sleep", "1000"); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
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
