package results

import (
	"strconv"
	"strings"
	"time"

	"muster/lab/stat"
)

// A Warning explains why a benchmark's figure may be misleading.
type Warning struct {
	Name string // of the benchmark
	stat.Warning
}

// Warnings returns the warnings about all benchmarks, in the order of Names.
func (r *Results) Warnings() []Warning { return r.WarningsOf(r.Names()) }

// WarningsOf returns the warnings about some benchmarks.
func (r *Results) WarningsOf(names []string) (found []Warning) {
	series := map[string][]Sample{}
	for _, s := range r.Samples {
		key := seriesOf(s.Name)
		series[key] = append(series[key], s)
	}
	for _, name := range names {
		for _, w := range newMeasurement(name, series[seriesOf(name)]).Warnings() {
			found = append(found, Warning{name, w})
		}
	}
	return found
}

// newMeasurement collects the runs of a benchmark. The samples of its series, which differ
// only in the number of operations, show the growth.
func newMeasurement(name string, series []Sample) stat.Measurement {
	m := stat.Measurement{Cores: coresMeant(name)}
	for _, s := range series {
		ns, ok := s.Value(NsPerOp)
		if !ok || ns <= 0 {
			continue
		}
		wall := time.Duration(ns * float64(s.N))
		m.Growth = append(m.Growth, stat.Run{N: s.N, Wall: wall})
		if s.Name != name {
			continue
		}
		m.Ops = s.N
		m.Wall = append(m.Wall, wall)
		if cpu, ok := s.Value(CPUPerOp); ok {
			m.CPU = append(m.CPU, time.Duration(cpu*float64(s.N)))
		}
	}
	return m
}

// coresMeant returns how many processors should work on a benchmark at the same time, 0 if the
// benchmark is not about parallel work.
func coresMeant(name string) int {
	procs := numberOf(name, "procs")
	switch question, _, _ := strings.Cut(name, "/"); {
	case question == "Dispatch" && KeyOf(name, "mode") == "single":
		if jobs := numberOf(name, "jobs"); procs == 0 || jobs < procs {
			return jobs
		}
		return procs
	case question == "Channel" && KeyOf(name, "processes") == "":
		return min(2, procs)
	case question == "Spawn" && KeyOf(name, "mode") == "each":
		return procs
	}
	return 0
}

// seriesOf removes the number of operations from a name.
func seriesOf(name string) string {
	var kept []string
	for part := range strings.SplitSeq(name, "/") {
		if !strings.HasPrefix(part, "tasks=") && !strings.HasPrefix(part, "count=") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "/")
}

// numberOf returns the number of a key in a name, 0 if the name has none.
func numberOf(name, key string) int {
	n, _ := strconv.Atoi(KeyOf(name, key))
	return n
}
