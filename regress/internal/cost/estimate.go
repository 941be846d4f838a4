package cost

import (
	"math"

	"muster/regress/internal/outcome"
)

// A Pair is the cost of a case under both commands, run one right after the other.
type Pair struct {
	Case     string
	Old, New outcome.Cost
}

// A Case is the cost of one case: for each figure the median of its pairs.
type Case struct {
	Name  string       `line:"name,name"`
	Pairs int          `line:"pairs"`
	Old   outcome.Cost `line:"old_,inline"`
	New   outcome.Cost `line:"new_,inline"`
	CPU   float64      `line:"cpu_ratio"` // new ÷ old, the median of the pairs' ratios
}

// An Estimate is the result of all pairs together.
type Estimate struct {
	Pairs    int       `line:"pairs"`       // usable pairs
	CPU      Ratio     `line:"cpu,null"`    // of the sums: the whole corpus under both commands
	Memory   Ratio     `line:"memory,null"` // of the sums of the peaks
	Cases    []Case    `line:"cases"`       // in the order of their first pairs
	Worst    []Case    `line:"worst"`       // confirmed ones, see Confirm
	Warnings []Warning `line:"warnings"`    // reasons why a figure may mislead
}

// NewEstimate estimates the cost of a change. floor, in KiB, is the smallest peak that can be measured:
// pairs below it are ignored for memory. Pairs without CPU time on one side are ignored.
func NewEstimate(pairs []Pair, floor int64) Estimate {
	cases := byCase(pairs)
	var e Estimate
	for _, c := range cases {
		e.Pairs += len(c.pairs)
		e.Cases = append(e.Cases, c.middle())
	}
	times := shareOf(cases, func(p Pair) (old, now float64) { return float64(p.Old.CPU), float64(p.New.CPU) })
	peaks := shareOf(cases, func(p Pair) (old, now float64) {
		if p.Old.PeakRSS <= floor && p.New.PeakRSS <= floor {
			return 0, 0
		}
		return float64(p.Old.PeakRSS), float64(p.New.PeakRSS)
	})
	e.CPU, e.Memory = times.ratio(), peaks.ratio()
	e.Warnings = warnings(e, times)
	return e
}

// casePairs is a case with its pairs.
type casePairs struct {
	name  string
	pairs []Pair
}

func byCase(pairs []Pair) []casePairs {
	var cases []casePairs
	at := map[string]int{}
	for _, p := range pairs {
		if p.Old.CPU <= 0 || p.New.CPU <= 0 {
			continue
		}
		i, known := at[p.Case]
		if !known {
			i = len(cases)
			at[p.Case] = i
			cases = append(cases, casePairs{name: p.Case})
		}
		cases[i].pairs = append(cases[i].pairs, p)
	}
	return cases
}

func (m casePairs) middle() Case {
	ratios := make([]float64, len(m.pairs))
	for i, p := range m.pairs {
		ratios[i] = float64(p.New.CPU) / float64(p.Old.CPU)
	}
	return Case{
		Name: m.name, Pairs: len(m.pairs), CPU: median(ratios),
		Old: m.side(func(p Pair) outcome.Cost { return p.Old }),
		New: m.side(func(p Pair) outcome.Cost { return p.New }),
	}
}

func (m casePairs) side(of func(Pair) outcome.Cost) outcome.Cost {
	var cpu, wall, peak []float64
	for _, p := range m.pairs {
		c := of(p)
		cpu, wall, peak = append(cpu, float64(c.CPU)), append(wall, float64(c.Wall)), append(peak, float64(c.PeakRSS))
	}
	return outcome.Cost{CPU: duration(median(cpu)), Wall: duration(median(wall)), PeakRSS: int64(math.Round(median(peak)))}
}
