package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/internal/readable"
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
		return Limit{}, fmt.Errorf("%q: cpu and memory can be limited", text)
	}
	number, found := strings.CutSuffix(strings.TrimSpace(part), "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !found || err != nil || !(percent >= 0 && percent <= 1e6) {
		return Limit{}, fmt.Errorf("%q: %q is not a percentage such as 5%% or 0.5%%", text, strings.TrimSpace(part))
	}
	return Limit{what, percent / 100}, nil
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

// Kind is the reason why a figure may mislead.
type Kind int

// The kinds.
const (
	_      Kind = iota
	TooFew      // too few pairs for a meaningful interval
	Uneven      // a few cases take most of the time
	Noisy       // the interval is wide
)

// String returns the kind's name in reports.
func (k Kind) String() string {
	switch k {
	case TooFew:
		return "too-few"
	case Uneven:
		return "uneven"
	case Noisy:
		return "noisy"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// A Warning is a reason and, after a semicolon, the mend.
type Warning struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// precisionMax is the precision from which an interval is wide.
const precisionMax = 0.05

// warnings returns the warnings about an estimate, at most one of each kind, in their order.
func warnings(e Estimate, times shares) (list []Warning) {
	if !e.CPU.IsKnown() {
		return nil
	}
	add := func(wrong bool, k Kind, format string, args ...any) {
		if wrong {
			list = append(list, Warning{k, fmt.Sprintf(format, args...)})
		}
	}
	add(!e.CPU.Bounded(), TooFew, "no interval from %s of %s; run more cases", readable.Count(e.Pairs, "pair"), readable.Count(len(e.Cases), "case"))
	add(e.CPU.Bounded() && e.CPU.Vague(), TooFew, "the interval from %s of %s reaches %.0f %% to either side, and means nothing: run more cases, or keep the machine free of other work",
		readable.Count(e.Pairs, "pair"), readable.Count(len(e.Cases), "case"), 100*e.CPU.Precision())
	count := times.effective()
	these := ""
	if e.CPU.Bounded() {
		these = ", and the interval covers only these"
	}
	add(len(times) >= casesMin && count < casesMin, Uneven,
		"few cases take most of the time: the %d weigh as much as %.0f of equal size%s; run more cases", len(times), count, these)
	add(!e.CPU.Vague() && e.CPU.Precision() > precisionMax, Noisy,
		"the interval reaches %.0f %% to either side: run more cases, or keep the machine free of other work", 100*e.CPU.Precision())
	return list
}

func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// A case with the worst ratios stands out by these factors.
const (
	worstMax     = 10
	standsOut    = 4      // times the scatter of the cases …
	perDeviation = 1.4826 // … as a standard deviation, from the median of their distances
	standsOutMin = 0.05   // and at least 5 %
)

// Suspects names the cases whose ratio is beyond the scatter of the others, the worst first. In
// most of them an interrupt disturbed one run. Further pairs show whether the change is the reason.
func (e Estimate) Suspects() (names []string) {
	limit := e.limit()
	suspects := slices.DeleteFunc(slices.Clone(e.Cases), func(c Case) bool { return c.CPU <= limit })
	slices.SortStableFunc(suspects, func(a, b Case) int { return cmp.Compare(b.CPU, a.CPU) })
	for _, c := range suspects[:min(len(suspects), worstMax)] {
		names = append(names, c.Name)
	}
	return names
}

// Confirm puts those suspects into Worst whose further pairs are all beyond the limit. Do not use
// these pairs for anything else: cases that were chosen for their ratio would bias the overall
// ratio.
func (e *Estimate) Confirm(further []Pair) {
	limit := e.limit()
	e.Worst = nil
	for _, m := range byCase(further) {
		if !slices.ContainsFunc(m.pairs, func(p Pair) bool { return float64(p.New.CPU) <= limit*float64(p.Old.CPU) }) {
			e.Worst = append(e.Worst, m.middle())
		}
	}
	slices.SortStableFunc(e.Worst, func(a, b Case) int { return cmp.Compare(b.CPU, a.CPU) })
}

// limit returns the ratio from which a case stands out.
func (e Estimate) limit() float64 {
	logs := make([]float64, len(e.Cases))
	for i, c := range e.Cases {
		logs[i] = math.Log(c.CPU)
	}
	middle := median(logs)
	apart := make([]float64, len(logs))
	for i, l := range logs {
		apart[i] = math.Abs(l - middle)
	}
	return math.Exp(max(middle, 0) + max(standsOut*perDeviation*median(apart), standsOutMin))
}
