package cost

import (
	"cmp"
	"math"
	"slices"
)

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
