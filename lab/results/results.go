// Package results is what was measured: samples under conditions, what there is not and
// why, and warnings; as lines of Go's benchmarks, fit for benchstat, and back, and as
// JSON. Medians, intervals and ratios of them come from package stat.
//
// It must not measure. Of benchmarks' names it knows what its warnings need: which parts of
// them are numbers of operations, and which questions are about several processors.
package results

import (
	"slices"
	"strings"

	"muster/lab/stat"
)

// Results is what a run measured.
type Results struct {
	Conditions []Pair
	Samples    []Sample  // in the order in which they were taken
	Absent     []Absent  // figures that there are not, and why
	Missing    []Missing // what is not here, and why
	NotRun     int       // measurements that an interruption kept from being made; not written
}

// Empty reports whether nothing is known of any figure.
func (r *Results) Empty() bool { return len(r.Samples) == 0 && len(r.Absent) == 0 }

// A Pair is a condition under which was measured.
type Pair struct{ Key, Value string }

// A Sample is one measurement: a line of Go's benchmarks.
type Sample struct {
	Name   string // without "Benchmark"
	N      int    // operations
	Values []Value
}

// A Value is a figure for each operation, or one of the whole, as its unit says.
type Value struct {
	Unit   string
	Figure float64
}

// Absent is a figure that there is not.
type Absent struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Missing is a contestant, or something else that a figure needs, that is not here.
type Missing struct {
	Peer    string `json:"peer"`
	Reason  string `json:"reason"`
	Install string `json:"install"` // what brings it, on Debian; empty = nothing of the kind
}

// Text is why it is missing, and what would mend that.
func (m Missing) Text() string {
	if m.Install == "" {
		return m.Reason
	}
	return m.Reason + "; on Debian " + m.Install + " brings what it needs"
}

// Why there is no figure; other reasons are what a system said.
const (
	NoSuchMode = "has no such mode"
	NeverEnds  = "does not end"
	Refused    = "the system gives no more"
	TooLong    = "left out as too long"
	Failed     = "failed: " // and what it said
)

// Units that benchmarks of time have.
const (
	NsPerOp  = "ns/op"
	CPUPerOp = "cpu-ns/op" // of all processors together
)

// Condition returns the value of one; empty if there is none.
func (r *Results) Condition(key string) string {
	i := slices.IndexFunc(r.Conditions, func(p Pair) bool { return p.Key == key })
	if i < 0 {
		return ""
	}
	return r.Conditions[i].Value
}

// Value returns the sample's figure of that unit; false if it has none.
func (s Sample) Value(unit string) (float64, bool) {
	for _, v := range s.Values {
		if v.Unit == unit {
			return v.Figure, true
		}
	}
	return 0, false
}

// Key returns what the name says of a key, as in "/impl=ants".
func (s Sample) Key(key string) string { return KeyOf(s.Name, key) }

// KeyOf is what a benchmark's name says of a key, as in "/impl=ants"; empty if nothing.
func KeyOf(name, key string) string {
	for part := range strings.SplitSeq(name, "/") {
		if value, ok := strings.CutPrefix(part, key+"="); ok {
			return value
		}
	}
	return ""
}

// Figures returns the values of one benchmark in one unit, in the order in which they
// were taken.
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

// Names lists the benchmarks, each once, in the order of their first sample.
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

// Units lists those of a benchmark.
func (r *Results) Units(name string) (units []string) {
	for _, s := range r.Samples {
		if s.Name == name {
			for _, v := range s.Values {
				units = append(units, v.Unit)
			}
			return units
		}
	}
	return nil
}

// Summary is the median of a benchmark in one unit, with its interval.
func (r *Results) Summary(name, unit string) stat.Summary {
	return stat.Summarize(r.Figures(name, unit))
}

// Ratio is how many times b's figure a's is, round by round; nothing where a round gives
// none. An interrupted run may have one more of the first.
func (r *Results) Ratio(a, b, unit string) stat.Summary {
	over, under := r.Figures(a, unit), r.Figures(b, unit)
	n := min(len(over), len(under))
	s, err := stat.Ratio(over[:n], under[:n])
	if err != nil {
		return stat.Summary{}
	}
	return s
}

// Difference is how much more than b's figure a's is, round by round.
func (r *Results) Difference(a, b, unit string) stat.Summary {
	more, less := r.Figures(a, unit), r.Figures(b, unit)
	var differences []float64
	for i := range min(len(more), len(less)) {
		differences = append(differences, more[i]-less[i])
	}
	return stat.Summarize(differences)
}

// Why reports why there is no figure of that name; empty if there is one or
// nothing is known of it.
func (r *Results) Why(name string) string {
	i := slices.IndexFunc(r.Absent, func(a Absent) bool { return a.Name == name })
	if i < 0 {
		return ""
	}
	return r.Absent[i].Why
}
