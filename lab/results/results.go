// Package results holds what a run measured: samples under conditions, absent figures with
// reasons, and warnings. It writes and reads Go's benchmark format, which benchstat
// understands, and writes JSON. Package stat computes medians, intervals and ratios.
//
// It must not measure. It knows only those parts of benchmark names that its warnings need:
// numbers of operations, and questions that involve several processors.
package results

import (
	"slices"
	"strconv"
	"strings"

	"muster/lab/stat"
)

// Results are the results of a run.
type Results struct {
	Conditions []Pair
	Samples    []Sample  // in the order of measurement
	Absent     []Absent  // figures without a value
	Missing    []Missing // contestants and tools that this machine lacks
	NotRun     int       // measurements that an interruption prevented; Write omits it
}

// Empty reports whether r has neither samples nor absent figures.
func (r *Results) Empty() bool { return len(r.Samples) == 0 && len(r.Absent) == 0 }

// A Pair is a condition of the measurements.
type Pair struct{ Key, Value string }

// A Sample is one measurement, a line of Go's benchmark format.
type Sample struct {
	Name   string // without "Benchmark"
	N      int    // operations
	Values []Value
}

// A Value is a figure per operation or for the whole run, as its unit says.
type Value struct {
	Unit   string
	Figure float64
}

// Absent is a figure without a value, and the reason.
type Absent struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Missing is a contestant, or a tool that a figure needs, which this machine lacks.
type Missing struct {
	Peer    string `json:"peer"`
	Reason  string `json:"reason"`
	Install string `json:"install"` // command that installs it on Debian; "" if none does
}

func (m *Missing) Error() string { return m.Peer + ": " + m.Text() }

// Text returns the reason and the remedy.
func (m Missing) Text() string {
	if m.Install == "" {
		return m.Reason
	}
	return m.Reason + "; to install it on Debian: " + m.Install
}

// Reasons for absent figures. Files contain these texts. Any other reason is an error message.
const (
	NoSuchMode = "has no such mode"
	NeverEnds  = "does not end"
	Refused    = "the system gives no more"
	TooLong    = "left out as too long"
	TooLarge   = "left out: " // followed by the memory that is missing
	Failed     = "failed: "   // followed by the contestant's error
)

// Units.
const (
	NsPerOp     = "ns/op"
	CPUPerOp    = "cpu-ns/op"  // of all processors together
	UserPerOp   = "user-ns/op" // of a command and its children
	SystemPerOp = "sys-ns/op"

	Threads    = "threads"
	ThreadsMax = "threads-max" // Go's default limit
	RSSPerOp   = "rss-B/op"
	StackPerOp = "stack-B/op"
	SysPerOp   = "sys-B/op" // obtained from the system
	Portion    = "s/portion"
	Wire       = "wire-B" // size of an encoded message
	Procs      = "procs"
	Status     = "exit-status"
	ClientRSS  = "rss-B" // of a whole process that writes to a database, at the end

	// Steps of files, and of a store of files.
	CreatePerOp = "create-ns/op"
	ReadPerOp   = "read-ns/op"
	StatPerOp   = "stat-ns/op"
	RenamePerOp = "rename-ns/op"
	RemovePerOp = "remove-ns/op"
	PutPerOp    = "put-ns/op"
	GetPerOp    = "get-ns/op"
)

// DisturbedUnit is the unit of a measurement's disturbance: the share of the processors' time
// that other programs took while threads waited for a processor. One value is rough, and below 0
// at times, because the system counts in steps of 10 ms. A mean above DisturbedMax makes a figure
// of parallel work meaningless.
const (
	DisturbedUnit = "disturbed"
	DisturbedMax  = 0.2
)

// Condition returns the value of a condition, "" if it is not set.
func (r *Results) Condition(key string) string {
	i := slices.IndexFunc(r.Conditions, func(p Pair) bool { return p.Key == key })
	if i < 0 {
		return ""
	}
	return r.Conditions[i].Value
}

// Value returns the sample's figure in a unit. It returns false if the sample has none.
func (s Sample) Value(unit string) (float64, bool) {
	for _, v := range s.Values {
		if v.Unit == unit {
			return v.Figure, true
		}
	}
	return 0, false
}

// KeyOf returns the value of a key in a benchmark's name, such as "ants" in "/impl=ants". It returns ""
// if the name lacks the key.
func KeyOf(name, key string) string {
	for part := range strings.SplitSeq(name, "/") {
		if value, ok := strings.CutPrefix(part, key+"="); ok {
			return value
		}
	}
	return ""
}

// Figures returns the values of a benchmark in a unit, in the order of measurement.
func (r *Results) Figures(name, unit string) (figures []float64) {
	for _, s := range r.Samples {
		if s.Name != name {
			continue
		}
		if v, ok := s.Value(unit); ok {
			figures = append(figures, v)
		}
	}
	return figures
}

// Names lists the benchmarks in the order of their first samples.
func (r *Results) Names() (names []string) {
	seen := map[string]bool{}
	for _, s := range r.Samples {
		if !seen[s.Name] {
			seen[s.Name] = true
			names = append(names, s.Name)
		}
	}
	return names
}

// Disturbance returns the mean disturbance of a benchmark's measurements. It returns that of all
// measurements if the benchmark has none, and 0 if it is unknown.
func (r *Results) Disturbance(name string) float64 {
	shares := r.Figures(name, DisturbedUnit)
	if len(shares) == 0 {
		for _, s := range r.Samples {
			if share, ok := s.Value(DisturbedUnit); ok {
				shares = append(shares, share)
			}
		}
	}
	sum := 0.0
	for _, share := range shares {
		sum += share
	}
	return sum / max(1, float64(len(shares)))
}

// Disturbed returns the number of disturbed benchmarks.
func (r *Results) Disturbed() (n int) {
	for _, name := range r.Names() {
		if r.Disturbance(name) > DisturbedMax {
			n++
		}
	}
	return n
}

// TimeUnit returns the unit in which benchmarks are compared: processor time if each of them has
// only one thread to run, because other programs hardly change it, else elapsed time.
func (r *Results) TimeUnit(names ...string) string {
	for _, name := range names {
		cpu := r.Figures(name, CPUPerOp)
		if !isSerial(name) || len(cpu) == 0 || slices.Min(cpu) <= 0 {
			return NsPerOp
		}
	}
	return CPUPerOp
}

// isSerial reports whether a benchmark runs one thread that never waits.
func isSerial(name string) bool {
	wait := KeyOf(name, "wait")
	return numberOf(name, "procs") == 1 && numberOf(name, "processes") < 2 && (wait == "" || wait == "0s")
}

// Units lists the units of a benchmark's figures.
func (r *Results) Units(name string) (units []string) {
	for _, s := range r.Samples {
		if s.Name == name {
			for _, v := range s.Values {
				if v.Unit != DisturbedUnit { // describes the measurement
					units = append(units, v.Unit)
				}
			}
			return units
		}
	}
	return nil
}

// Summary returns the median of a benchmark in a unit, with its interval.
func (r *Results) Summary(name, unit string) stat.Summary {
	return stat.Summarize(r.Figures(name, unit))
}

// Ratio summarises a ÷ b, round by round.
func (r *Results) Ratio(a, b, unit string) stat.Summary {
	return stat.Ratio(r.Figures(a, unit), r.Figures(b, unit))
}

// Difference summarises a − b, round by round.
func (r *Results) Difference(a, b, unit string) stat.Summary {
	more, less := r.Figures(a, unit), r.Figures(b, unit)
	var differences []float64
	for i := range min(len(more), len(less)) {
		differences = append(differences, more[i]-less[i])
	}
	return stat.Summarize(differences)
}

// Why returns the reason why the benchmark has no figure, "" if none is recorded.
func (r *Results) Why(name string) string {
	i := slices.IndexFunc(r.Absent, func(a Absent) bool { return a.Name == name })
	if i < 0 {
		return ""
	}
	return r.Absent[i].Why
}

// A Warning explains why a benchmark's figure may be misleading.
type Warning struct {
	Name string // of the benchmark
	stat.Warning
}

// Warnings returns the warnings about all benchmarks, in the order of Names.
func (r *Results) Warnings() []Warning { return r.WarningsOf(r.Names()) }

// WarningsOf returns the warnings about some benchmarks.
func (r *Results) WarningsOf(names []string) (found []Warning) {
	for _, name := range names {
		m := stat.Measurement{Cores: coresMeant(name)}
		for _, s := range r.Samples {
			ns, _ := s.Value(NsPerOp)
			if s.Name != name || ns <= 0 {
				continue
			}
			m.Ops = s.N
			m.Wall = append(m.Wall, ns*float64(s.N)/1e9)
			if cpu, ok := s.Value(CPUPerOp); ok {
				m.CPU = append(m.CPU, cpu*float64(s.N)/1e9)
			}
		}
		for _, w := range m.Warnings() {
			found = append(found, Warning{name, w})
		}
	}
	return found
}

// parallelCycles is the work beside a channel that two processors should share. With less work
// the goroutines wait for each other, which is a result and no mistake.
const parallelCycles = 10_000

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
	case question == "Channel" && numberOf(name, "cycles") >= parallelCycles:
		return min(2, procs)
	case question == "Spawn" && KeyOf(name, "mode") == "each":
		return procs
	}
	return 0
}

// numberOf returns the number of a key in a name, 0 if the name has none.
func numberOf(name, key string) int {
	n, _ := strconv.Atoi(KeyOf(name, key))
	return n
}
