package probe_test

import (
	"testing"

	"muster/lab/probe"
	"muster/lab/results"
)

// Muster's pool and every contestant run each of their modes, and refuse the others.
func TestDispatchContestants(t *testing.T) {
	for _, impl := range append(probe.DispatchContestants(), probe.Own) {
		for _, mode := range append(probe.DispatchModes(), "nonsense") {
			s, err := try(t, probe.Dispatch{Impl: impl, Mode: mode, Workers: 2, Tasks: 803})
			if has := probe.HasDispatchMode(impl, mode); (err == nil) != has {
				t.Errorf("%s %s: %v, has the mode: %t", impl, mode, err, has)
			} else if ns, _ := s.Value(results.NsPerOp); has && ns <= 0 {
				t.Errorf("%s %s: %+v", impl, mode, s)
			}
		}
	}
	if _, err := try(t, probe.Dispatch{Impl: "nobody", Mode: "single", Workers: 2, Tasks: 10}); err == nil {
		t.Error("an unknown contestant was measured")
	}
}

// Every task is done when the wait ends.
func TestContestantsDoAllTasks(t *testing.T) {
	for _, impl := range append(probe.DispatchContestants(), probe.Own) {
		for mode, want := range map[string]int{"single": 1001, "producers": 1001, "batch": 1001, "barrier": 3 * 1001} {
			if mode == "batch" && impl != probe.Own {
				continue
			}
			if got := probe.CountTasks(impl, mode, 1001, 3); got != want {
				t.Errorf("%s %s did %d tasks, want %d", impl, mode, got, want)
			}
		}
	}
}
