package lab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Results is what a run measured.
type Results struct {
	Conditions []Pair
	Samples    []Sample  // in the order in which they were taken
	Absent     []Absent  // figures that there are not, and why
	Missing    []Missing // contestants that could not be compiled here
	NotRun     int       // measurements that an interruption kept from being made; not written
}

func (r *Results) empty() bool { return len(r.Samples) == 0 && len(r.Absent) == 0 }

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

// Missing is a program that could not be compiled here.
type Missing struct {
	Peer    string `json:"peer"`
	Reason  string `json:"reason"`
	Install string `json:"install"` // what brings it, on Debian
}

const prefix = "Benchmark"

// The condition that says how the file is to be read, and how this version writes it.
const (
	formatKey     = "format"
	formatVersion = "muster-lab-1"
)

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
func (s Sample) Key(key string) string { return keyOf(s.Name, key) }

func keyOf(name, key string) string {
	for part := range strings.SplitSeq(name, "/") {
		if value, ok := strings.CutPrefix(part, key+"="); ok {
			return value
		}
	}
	return ""
}

func (s Sample) String() string {
	b := append([]byte(prefix), s.Name...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(s.N), 10)
	for _, v := range s.Values {
		b = append(b, ' ')
		b = strconv.AppendFloat(b, v.Figure, 'g', 6, 64)
		b = append(b, ' ')
		b = append(b, v.Unit...)
	}
	return string(b)
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

// absent reports why there is no figure of that name; empty if there is one or
// nothing is known of it.
func (r *Results) absent(name string) string {
	i := slices.IndexFunc(r.Absent, func(a Absent) bool { return a.Name == name })
	if i < 0 {
		return ""
	}
	return r.Absent[i].Why
}

// Write writes everything in the format of Go's benchmarks, fit for benchstat: the
// conditions, then a line for each sample. What is absent or missing stands in lines
// that benchstat passes over.
func (r *Results) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	writeConditions(b, r.Conditions)
	for _, s := range r.Samples {
		fmt.Fprintln(b, s)
	}
	for _, a := range r.Absent {
		fmt.Fprintln(b, a)
	}
	for _, m := range r.Missing {
		fmt.Fprintln(b, m)
	}
	return b.Flush()
}

func writeConditions(w io.Writer, conditions []Pair) {
	for _, p := range conditions {
		fmt.Fprintf(w, "%s: %s\n", p.Key, p.Value)
	}
	fmt.Fprintln(w)
}

func (a Absent) String() string  { return remark(absentWord, a) }
func (m Missing) String() string { return remark(missingWord, m) }

// What stands before what there is not.
const (
	absentWord  = "absent"
	missingWord = "missing"
)

// remark is a line that benchstat passes over.
func remark(word string, about any) string {
	text, err := json.Marshal(about)
	if err != nil {
		panic(err) // they are strings
	}
	return "# " + word + " " + string(text)
}

// ReadResults reads what Write wrote, or a journal that was cut off at any place: a last
// line without an end is left out.
func ReadResults(from io.Reader) (*Results, error) {
	r := &Results{}
	lines := bufio.NewReader(from)
	for number := 1; ; number++ {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		if err := r.readLine(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
}

func (r *Results) readLine(line string) error {
	key, value, pair := strings.Cut(line, ": ")
	switch {
	case line == "":
	case strings.HasPrefix(line, "#"):
		return r.readRemark(line)
	case strings.HasPrefix(line, prefix):
		s, err := parseLine(line)
		if err != nil {
			return err
		}
		r.Samples = append(r.Samples, s)
	case pair && !strings.Contains(key, " "):
		return r.setCondition(Pair{key, value})
	default:
		return fmt.Errorf("%q is neither a condition nor a line of a benchmark", excerpt(line))
	}
	return nil
}

// setCondition takes the last of several values: an interrupted run may have come no
// farther than to say some of them. Under two values of one, figures are not comparable.
func (r *Results) setCondition(p Pair) error {
	if p.Key == formatKey && p.Value != formatVersion {
		return fmt.Errorf("the format is %q, and this program reads %q", p.Value, formatVersion)
	}
	i := slices.IndexFunc(r.Conditions, func(had Pair) bool { return had.Key == p.Key })
	switch {
	case i < 0:
		r.Conditions = append(r.Conditions, p)
	case r.Conditions[i] != p && len(r.Samples) > 0:
		return fmt.Errorf("%s was %s and is %s from here on: these are the results of two runs", p.Key, r.Conditions[i].Value, p.Value)
	default:
		r.Conditions[i] = p
	}
	return nil
}

// readRemark takes what Write says of what there is not; other remarks mean nothing.
func (r *Results) readRemark(line string) error {
	word, text, _ := strings.Cut(strings.TrimPrefix(line, "# "), " ")
	switch word {
	case absentWord:
		var a Absent
		err := json.Unmarshal([]byte(text), &a)
		r.Absent = append(r.Absent, a)
		return err
	case missingWord:
		var m Missing
		err := json.Unmarshal([]byte(text), &m)
		r.Missing = append(r.Missing, m)
		return err
	}
	return nil
}
