package cost

import (
	"fmt"
	"strconv"
	"strings"
)

// A Limit bounds the additional cost of a change.
type Limit struct {
	What Metric
	Part float64 // allowed increase: 0.05 is 5 %
}

// Metric is a limited quantity.
type Metric string

// The metrics.
const (
	CPU    Metric = "cpu"
	Memory Metric = "memory"
)

// ParseLimit reads cpu>5% or memory>12.5%, spaces allowed.
func ParseLimit(text string) (Limit, error) {
	if strings.TrimSpace(text) == "" {
		return Limit{}, fmt.Errorf("%q: a limit is empty: the form is cpu>5%%", text)
	}
	word, part, found := strings.Cut(text, ">")
	what := Metric(strings.TrimSpace(word))
	if !found {
		return Limit{}, fmt.Errorf("%q: the form is cpu>5%%", text)
	}
	if what != CPU && what != Memory {
		return Limit{}, fmt.Errorf("%q: cpu and memory can be limited%s", text, nearest(string(what)))
	}
	number, found := strings.CutSuffix(strings.TrimSpace(part), "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !found || err != nil || !(percent >= 0 && percent <= 1e6) {
		return Limit{}, fmt.Errorf("%q: %q is not a percentage such as 5%% or 0.5%%", text, strings.TrimSpace(part))
	}
	return Limit{what, percent / 100}, nil
}

// nearest suggests the metric with the same beginning.
func nearest(word string) string {
	for _, m := range []Metric{CPU, Memory} {
		if word != "" && strings.HasPrefix(strings.ToLower(word), string(m[:1])) {
			return fmt.Sprintf(" (did you mean %q?)", m)
		}
	}
	return ""
}

// String returns the limit in the form that ParseLimit reads.
func (l Limit) String() string {
	return fmt.Sprintf("%s>%s%%", l.What, strconv.FormatFloat(100*l.Part, 'f', -1, 64))
}

// Of returns the ratio that the limit bounds.
func (l Limit) Of(e Estimate) Ratio {
	if l.What == Memory {
		return e.Memory
	}
	return e.CPU
}

// Decided reports whether further pairs would not change the result. Either the ratio is certainly
// below the limit, or it is so far beyond that repeated looks do no harm.
func (l Limit) Decided(e Estimate) bool {
	r := l.Of(e)
	return r.Bounded() && (r.High <= 1+l.Part || r.Value > (1+l.Part)*(1+r.Precision())*(1+r.Precision()))
}

// Inconclusive reports whether the cost cannot be judged: there is no interval, or it reaches far
// on both sides of the limit. Memory below the measurable floor has not risen above it either.
func (l Limit) Inconclusive(e Estimate) bool {
	r := l.Of(e)
	if !r.IsKnown() {
		return !e.CPU.IsKnown()
	}
	return !r.Bounded() || r.vagueAt(1+l.Part)
}

// Passed reports whether the whole interval is beyond the limit.
func (l Limit) Passed(e Estimate) bool {
	return l.Of(e).Low > 1+l.Part
}
