package results

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/lab/stat"
)

const prefix = "Benchmark"

// FormatKey is the condition that names the file's format, and FormatVersion is its value for
// this version of the format.
const (
	FormatKey     = "format"
	FormatVersion = "muster-lab-1"
)

// Write writes the results in the format of Go's benchmarks, which benchstat reads: the
// conditions, then a line for each sample. Absent figures and missing contestants follow as
// comments, which benchstat ignores.
func (r *Results) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, p := range r.Conditions {
		fmt.Fprintf(b, "%s: %s\n", p.Key, p.Value)
	}
	fmt.Fprintln(b)
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

func (s Sample) String() string {
	text := fmt.Sprint(prefix, s.Name, " ", s.N)
	for _, v := range s.Values {
		text += fmt.Sprintf(" %.6g %s", v.Figure, v.Unit)
	}
	return text
}

func (a Absent) String() string  { return remark(absentWord, a) }
func (m Missing) String() string { return remark(missingWord, m) }

// Words that begin the comments about absent figures and missing contestants.
const (
	absentWord  = "absent"
	missingWord = "missing"
)

// remark formats a comment line, which benchstat ignores.
func remark(word string, about any) string {
	text, err := json.Marshal(about)
	if err != nil {
		panic(err) // they are strings
	}
	return "# " + word + " " + string(text)
}

// Read reads what Write wrote, or a journal that was cut off anywhere. It ignores a last line
// without a line break.
func Read(from io.Reader) (*Results, error) {
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
		s, err := ParseLine(line)
		if err != nil {
			return err
		}
		r.Samples = append(r.Samples, s)
	case pair && !strings.Contains(key, " "):
		return r.setCondition(Pair{key, value})
	default:
		return fmt.Errorf("%q is neither a condition nor a benchmark line", Excerpt(line))
	}
	return nil
}

// setCondition keeps the last of several values, because an interrupted run may have written
// only some conditions and a resumed run writes them again. It fails if a value changes after
// a sample: figures under different conditions are not comparable.
func (r *Results) setCondition(p Pair) error {
	if p.Key == FormatKey && p.Value != FormatVersion {
		return fmt.Errorf("the format is %q, but this program reads %q", p.Value, FormatVersion)
	}
	i := slices.IndexFunc(r.Conditions, func(had Pair) bool { return had.Key == p.Key })
	switch {
	case i < 0:
		r.Conditions = append(r.Conditions, p)
	case r.Conditions[i] != p && len(r.Samples) > 0:
		return fmt.Errorf("%s changes from %s to %s in the middle of the file: the file holds the results of two runs", p.Key, r.Conditions[i].Value, p.Value)
	default:
		r.Conditions[i] = p
	}
	return nil
}

// readRemark reads the comments that Write wrote and ignores others.
func (r *Results) readRemark(line string) error {
	word, text, _ := strings.Cut(strings.TrimPrefix(line, "# "), " ")
	switch word {
	case absentWord:
		r.Absent = append(r.Absent, Absent{})
		return json.Unmarshal([]byte(text), &r.Absent[len(r.Absent)-1])
	case missingWord:
		r.Missing = append(r.Missing, Missing{})
		return json.Unmarshal([]byte(text), &r.Missing[len(r.Missing)-1])
	}
	return nil
}

// ParseLine parses a line of Go's benchmark format: a name, a number of operations, and pairs
// of a figure and its unit.
func ParseLine(text string) (Sample, error) {
	fields := strings.Fields(text)
	if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], prefix) {
		return Sample{}, fmt.Errorf("%q is not a benchmark line", Excerpt(text))
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil || n < 1 {
		return Sample{}, fmt.Errorf("%q is not a benchmark line: %q is not a number of operations", Excerpt(text), Excerpt(fields[1]))
	}
	s := Sample{Name: strings.TrimPrefix(fields[0], prefix), N: n}
	for pair := range slices.Chunk(fields[2:], 2) {
		v, err := strconv.ParseFloat(pair[0], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return Sample{}, fmt.Errorf("%q is not a benchmark line: %q is not a number", Excerpt(text), Excerpt(pair[0]))
		}
		s.Values = append(s.Values, Value{pair[1], v})
	}
	return s, nil
}

// Excerpt returns at most the first 200 bytes of a text, for messages.
func Excerpt(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}

// WriteJSON writes a line for each figure with its median and interval. Then it writes a line
// for each absent figure, missing contestant and warning, and last a summary.
func (r *Results) WriteJSON(w io.Writer) error {
	var lines []any
	for _, name := range r.Names() {
		for _, unit := range r.Units(name) {
			lines = append(lines, jsonFigure{"figure", name, unit, r.Summary(name, unit), r.Figures(name, unit)})
		}
	}
	figures, warnings := len(lines), r.Warnings()
	for _, a := range r.Absent {
		lines = append(lines, jsonAbsent{"absent", a})
	}
	for _, m := range r.Missing {
		lines = append(lines, jsonMissing{"missing", m})
	}
	for _, w := range warnings {
		lines = append(lines, jsonWarning{"warning", w.Kind, w.Name, w.Text})
	}
	conditions := map[string]string{}
	for _, c := range r.Conditions {
		conditions[c.Key] = c.Value
	}
	lines = append(lines, jsonSummary{
		"summary", conditions, figures, len(r.Absent), len(r.Missing), len(warnings), r.Disturbed(), r.NotRun > 0, r.NotRun,
	})
	e := json.NewEncoder(w)
	for _, line := range lines {
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

type (
	jsonFigure struct {
		Type string `json:"type"`
		Name string `json:"name"`
		Unit string `json:"unit"`
		stat.Summary
		Samples []float64 `json:"samples"`
	}
	jsonAbsent struct {
		Type string `json:"type"`
		Absent
	}
	jsonMissing struct {
		Type string `json:"type"`
		Missing
	}
	jsonWarning struct {
		Type string    `json:"type"`
		Kind stat.Kind `json:"kind"`
		Name string    `json:"name"`
		Text string    `json:"text"`
	}
	jsonSummary struct {
		Type        string            `json:"type"`
		Conditions  map[string]string `json:"conditions"`
		Figures     int               `json:"figures"`
		Absent      int               `json:"absent"`
		Missing     int               `json:"missing"`
		Warnings    int               `json:"warnings"`
		Disturbed   int               `json:"disturbed"`   // benchmarks during which other programs took the processors
		Interrupted bool              `json:"interrupted"` // the run ended early
		NotRun      int               `json:"not_run"`
	}
)
