package cost

import (
	"cmp"
	"math"
	"slices"
)

// What makes a case one of the worst.
const (
	worstMax     = 10
	standsOut    = 4      // times what the cases scatter by …
	perDeviation = 1.4826 // … as a standard deviation, from the median of how far they are apart
	standsOutMin = 0.05   // and 5 % at the least
)

// Suspects names the cases whose ratio is beyond what those of the others scatter by, the
// worst first. In most an interrupt hit the one run and not the other: whether it is the
// change is for further pairs to say.
func (e Estimate) Suspects() (names []string) {
	limit := e.limit()
	suspects := slices.DeleteFunc(slices.Clone(e.Cases), func(c Case) bool { return c.CPU <= limit })
	slices.SortStableFunc(suspects, func(a, b Case) int { return cmp.Compare(b.CPU, a.CPU) })
	for _, c := range suspects[:min(len(suspects), worstMax)] {
		names = append(names, c.Name)
	}
	return names
}

// Confirm makes Worst of those suspects that are beyond in all their further pairs. These
// pairs are for nothing else: cases that were chosen for their ratio would bend that of all.
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

// limit is the ratio from which on a case stands out.
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
