package probe_test

import (
	"runtime/metrics"
	"testing"

	"muster/lab/probe"
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
		c, err := probe.Spawn(probe.SpawnOptions{Roots: 3, Calls: calls, Mode: mode})
		if err != nil || c.N != calls || c.Wall <= 0 {
			t.Errorf("%s: %+v, %v", mode, c, err)
		}
		// The garbage collector starts some more.
		if n := created() - before; n < 2*calls*each || n > 2*calls*each+calls {
			t.Errorf("%s: %d goroutines for %d calls", mode, n, calls)
		}
	}
	for _, o := range []probe.SpawnOptions{{0, 1, probe.Each}, {1, 0, probe.Each}, {1, 1, "no mode"}} {
		if _, err := probe.Spawn(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
