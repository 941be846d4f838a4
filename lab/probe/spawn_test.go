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

// The warm-up does the same work as the measurement.
func TestSpawnWarmsUp(t *testing.T) {
	const calls = 500
	before := created()
	c, err := probe.Spawn(probe.SpawnOptions{Roots: 3, Calls: calls, Go: true})
	if err != nil || c.N != calls || c.Wall <= 0 {
		t.Errorf("%+v, %v", c, err)
	}
	// The garbage collector starts some more.
	if n := created() - before; n < 2*calls || n > 3*calls {
		t.Errorf("%d goroutines for %d calls, want twice as many", n, calls)
	}
}

func TestSpawnDirect(t *testing.T) {
	before := created()
	c, err := probe.Spawn(probe.SpawnOptions{Roots: 3, Calls: 500})
	if err != nil || c.N != 500 || c.Wall <= 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if n := created() - before; n >= 500 {
		t.Errorf("%d goroutines for direct calls", n)
	}
	for _, o := range []probe.SpawnOptions{{Roots: 0, Calls: 1}, {Roots: 1, Calls: 0}} {
		if _, err := probe.Spawn(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
