package probe_test

import (
	"testing"

	"muster/lab/probe"
)

// Muster's pool and every contestant run each of their modes, and refuse the others.
func TestDispatchContestants(t *testing.T) {
	for _, impl := range append(probe.DispatchContestants(), probe.Own) {
		for _, mode := range append(probe.DispatchModes(), "nonsense") {
			c, err := probe.Dispatch(impl, mode, 2, 803)
			if has := probe.HasDispatchMode(impl, mode); (err == nil) != has {
				t.Errorf("%s %s: %v, has the mode: %t", impl, mode, err, has)
			} else if has && (c.N < 1 || c.Wall <= 0) {
				t.Errorf("%s %s: %+v", impl, mode, c)
			}
		}
	}
	if _, err := probe.Dispatch("nobody", "single", 2, 10); err == nil {
		t.Error("an unknown contestant was measured")
	}
}

// Every task is done when the wait ends.
func TestContestantsDoAllTasks(t *testing.T) {
	for _, impl := range probe.DispatchContestants() {
		for mode, want := range map[string]int{"single": 1001, "producers": 1001, "barrier": 3 * 1001} {
			if got := probe.CountTasks(impl, mode, 1001, 3); got != want {
				t.Errorf("%s %s did %d tasks, want %d", impl, mode, got, want)
			}
		}
	}
}
