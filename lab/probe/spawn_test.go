package probe_test

import (
	"os/exec"
	"runtime"
	"runtime/metrics"
	"testing"

	"muster/lab/probe"
	"muster/lab/results"
)

// created returns the number of goroutines that this process has started.
func created() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// The warm-up does the same work as the measurement. Loops start no goroutines; the other
// modes start one for each call.
func TestSpawn(t *testing.T) {
	const calls = 550 // no multiple of a group
	for mode, each := range map[probe.SpawnMode]uint64{probe.Bare: 0, probe.Sending: 0, probe.Each: 1, probe.Grouped: 1} {
		before := created()
		expect(t, probe.Spawn{Roots: 3, Calls: calls, Mode: mode}, calls, results.NsPerOp)
		// The garbage collector starts some more.
		if n := created() - before; n < 2*calls*each || n > 2*calls*each+calls {
			t.Errorf("%s: %d goroutines for %d calls", mode, n, calls)
		}
	}
}

// A goroutine has a stack of at least 2 KiB and little else. The race detector multiplies
// that.
func TestWaiting(t *testing.T) {
	command := self(t, probe.Waiting{Goroutines: 20_000}) // a process in which nothing ran before
	output, err := exec.CommandContext(t.Context(), command[0], command[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	s, err := results.ParseLine(string(output))
	if err != nil || s.N != 20_000 {
		t.Fatal(s, err)
	}
	units := []string{results.StackPerOp, results.SysPerOp}
	if runtime.GOOS == "linux" {
		units = append(units, results.RSSPerOp)
	}
	for _, unit := range units {
		if each, _ := s.Value(unit); each < 2000 || each > 40_000 {
			t.Errorf("%.0f %s, want 2000 or a little more", each, unit)
		}
	}
}

// The goroutines end after the measurement. Memory that the process held before does not count.
func TestWaitingFew(t *testing.T) {
	before := runtime.NumGoroutine()
	s := expect(t, probe.Waiting{Goroutines: 1}, 1)
	if stack, _ := s.Value(results.StackPerOp); stack > 1<<20 || stack < -1<<20 {
		t.Errorf("%+v", s)
	}
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
}
