package results_test

import (
	"slices"
	"testing"

	"muster/lab/results"
)

// measured returns two measurements of a benchmark with elapsed and processor time.
func measured(name string, cpu float64) []results.Sample {
	s := results.Sample{Name: name, N: 1, Values: []results.Value{{Unit: results.NsPerOp, Figure: 100}, {Unit: results.CPUPerOp, Figure: cpu}}}
	return []results.Sample{s, s}
}

// Only figures of one thread that never waits are compared by processor time.
func TestTimeUnit(t *testing.T) {
	const one, two = "Spawn/impl=muster/mode=each/procs=1", "Spawn/impl=muster/mode=each/procs=2"
	const process, processes = "Channel/cycles=0/procs=1/processes=1", "Channel/cycles=0/procs=1/processes=2"
	const sleeps, unknown, foreign = "Workers/workers=2/wait=1ms/procs=1", "Spawn/mode=direct/procs=1", "Spawn/impl=erlang/mode=each"
	r := &results.Results{}
	for _, name := range []string{one, two, process, processes, sleeps, foreign} {
		r.Samples = append(r.Samples, measured(name, 90)...)
	}
	r.Samples = append(r.Samples, measured(unknown, 0)...)
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{one}, results.CPUPerOp}, {[]string{one, process}, results.CPUPerOp}, {[]string{one, two}, results.NsPerOp},
		{[]string{process, processes}, results.NsPerOp}, {[]string{sleeps}, results.NsPerOp}, {[]string{foreign}, results.NsPerOp},
		{[]string{one, unknown}, results.NsPerOp}, {[]string{"not measured/procs=1"}, results.NsPerOp},
	} {
		if got := r.TimeUnit(c.names...); got != c.want {
			t.Errorf("%q are compared by %s, want %s", c.names, got, c.want)
		}
	}
}

// A benchmark without a disturbance of its own has that of the whole run.
func TestDisturbance(t *testing.T) {
	r := &results.Results{Samples: slices.Concat(measured("Served", 1), measured("Quiet", 1), measured("Busy", 1))}
	if share := r.Disturbance("Busy"); share != 0 || r.Disturbed() != 0 {
		t.Errorf("an unknown disturbance is %v", share)
	}
	for i, share := range []float64{-0.1, 0.3, 0.8, 0.4} {
		r.Samples[2+i].Values = append(r.Samples[2+i].Values, results.Value{Unit: results.DisturbedUnit, Figure: share})
	}
	for name, want := range map[string]float64{"Served": 0.35, "Quiet": 0.1, "Busy": 0.6} {
		if got := r.Disturbance(name); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if n := r.Disturbed(); n != 2 {
		t.Errorf("%d benchmarks are disturbed, want 2", n)
	}
	if units := r.Units("Busy"); slices.Contains(units, results.DisturbedUnit) {
		t.Errorf("%q", units)
	}
}
