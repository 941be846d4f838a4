package results_test

import (
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
