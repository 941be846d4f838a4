// Package cost estimates from paired runs of two commands how much more or less CPU time and memory
// the new command takes. Input: CPU time and peak memory of each run. Output: an estimated ratio with
// its bounds, warnings, and the limits of --fail-on that it exceeds.
//
// It assumes nothing about the distribution of times, except that neither command is favoured
// within a pair. README.md reports what was tried. It must not run or measure anything, print, or
// decide an exit status.
package cost

import (
	"math"
	"slices"
	"time"

	"github.com/aclements/go-moremath/stats"

	"muster/regress/internal/outcome"
)

// Level is the probability that an interval contains the ratio. It is above the usual 0.95 because
// a check runs often, and each false alarm costs somebody an hour.
const Level = 0.999

// A Ratio is new ÷ old, with an interval. All three are 0 if the ratio is unknown. Low and High are
// 0 if too few pairs give no interval.
type Ratio struct {
	Value float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// IsKnown reports whether the ratio is known.
func (r Ratio) IsKnown() bool { return r.Value > 0 }

// Bounded reports whether the ratio has an interval.
func (r Ratio) Bounded() bool { return r.High > 0 }

// Precision is how far the interval reaches: 0.02 means up to 2 % more than the ratio. It is
// infinite without an interval.
func (r Ratio) Precision() float64 {
	if !r.Bounded() {
		return math.Inf(1)
	}
	return r.High/r.Value - 1
}

// vagueMin is the precision from which an interval means nothing. A change may then cost a quarter
// more, or nothing, or less, as everybody knew before.
const vagueMin = 0.25

// Vague reports whether the ratio means too little: it has no interval, or one that reaches far and
// contains 1.
func (r Ratio) Vague() bool { return !r.Bounded() || r.vagueAt(1) }

// vagueAt reports whether an interval reaches far and contains x.
func (r Ratio) vagueAt(x float64) bool { return r.Precision() > vagueMin && r.Low <= x && x < r.High }

// share is one case's part in a ratio of sums. The case takes size·√ratio on one side and
// size÷√ratio on the other, so that old and new are treated alike.
type share struct {
	size float64   // typical of both sides
	logs []float64 // of the ratio of each pair, in order
	log  float64   // their middle
}

type shares []share

// shareOf returns the shares for one figure. It leaves out pairs where the figure is not above 0 on
// both sides.
func shareOf(cases []casePairs, figure func(Pair) (old, now float64)) shares {
	var all shares
	for _, c := range cases {
		var s share
		var sizes []float64
		for _, p := range c.pairs {
			if old, now := figure(p); old > 0 && now > 0 {
				s.logs = append(s.logs, math.Log(now/old))
				sizes = append(sizes, math.Sqrt(old*now))
			}
		}
		if len(sizes) == 0 {
			continue
		}
		s.size, s.log = median(sizes), trimmedMean(s.logs)
		all = append(all, s)
	}
	return all
}

// casesMin is the number of cases from which they can represent the corpus. Heavy cases count by
// their share of the whole.
const casesMin = 10

// ratio returns the ratio of the sums with its interval. The interval comes from the differences
// between cases if there are enough of them, and otherwise from those between the pairs of each
// case.
func (all shares) ratio() Ratio {
	if len(all) == 0 {
		return Ratio{}
	}
	old, now := all.sums()
	log := math.Log(now / old)
	r := Ratio{Value: now / old}
	deviation, freedom := all.amongPairs(old, now)
	if count := all.effective(); count >= casesMin {
		deviation, freedom = all.amongCases(old, now), count-1
	}
	if freedom < freedomMin {
		return r
	}
	reach := quantile(freedom) * deviation
	r.Low, r.High = math.Exp(log-reach), math.Exp(log+reach)
	return r
}

// freedomMin is the number of degrees of freedom from which an interval has a meaning.
const freedomMin = 3

func (all shares) sums() (old, now float64) {
	for _, s := range all {
		old += s.size * math.Exp(-s.log/2)
		now += s.size * math.Exp(s.log/2)
	}
	return old, now
}

// effective returns the number of cases of equal size with the same weight (Kish).
func (all shares) effective() float64 {
	var sum, squares float64
	for _, s := range all {
		sum += s.size
		squares += s.size * s.size
	}
	return sum * sum / squares
}

// amongCases returns the standard deviation of the logarithm of the ratio if the cases are drawn
// from a larger corpus.
func (all shares) amongCases(old, now float64) float64 {
	var squares float64
	for _, s := range all {
		influence := s.size * (math.Exp(s.log/2)/now - math.Exp(-s.log/2)/old)
		squares += influence * influence
	}
	n := float64(len(all))
	return math.Sqrt(squares * n / (n - 1))
}

// amongPairs returns the same if only the times are drawn again, for these very cases, with the
// degrees of freedom (Satterthwaite). Cases with too few pairs have none.
func (all shares) amongPairs(old, now float64) (deviation, freedom float64) {
	var variance, square float64
	for _, s := range all {
		weight := s.size * (math.Exp(s.log/2)/now + math.Exp(-s.log/2)/old) / 2
		v, f := winsorizedVariance(s.logs)
		if f < 1 {
			return 0, 0
		}
		v *= weight * weight
		variance += v
		square += v * v / f
	}
	if square == 0 {
		return 0, math.Inf(1)
	}
	return math.Sqrt(variance), variance * variance / square
}

// trimPart is the part of a case's pairs that is left out at either end.
const trimPart = 0.2

// trimmedMean returns the mean without the ends, or the median of few values.
func trimmedMean(values []float64) float64 {
	if len(values) < 5 {
		return median(values)
	}
	sorted := slices.Sorted(slices.Values(values))
	cut := int(trimPart * float64(len(sorted)))
	return mean(sorted[cut : len(sorted)-cut])
}

// winsorizedVariance returns the variance of the trimmed mean, and its degrees of freedom (Tukey and
// McLaughlin). A cut value counts as if it were at the cut.
func winsorizedVariance(values []float64) (variance, freedom float64) {
	n := len(values)
	cut := int(trimPart * float64(n))
	left := n - 2*cut
	if left < 2 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(values))
	for i := range cut {
		sorted[i], sorted[n-1-i] = sorted[cut], sorted[n-1-cut]
	}
	middle := mean(sorted)
	var squares float64
	for _, v := range sorted {
		squares += (v - middle) * (v - middle)
	}
	return squares / float64(left*(left-1)), float64(left - 1)
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// median returns the median of values, or 0 without values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

func duration(ns float64) time.Duration { return time.Duration(math.Round(ns)) }

// quantile returns how many standard deviations an interval of Level reaches to either side.
func quantile(freedom float64) float64 {
	const freedomMax = 1e6 // beyond it, the normal distribution applies
	return stats.InvCDF(stats.TDist{V: min(freedom, freedomMax)})((1 + Level) / 2)
}

// A Pair is the cost of a case under both commands, run one right after the other.
type Pair struct {
	Case     string
	Old, New outcome.Cost
}

// A Case is the cost of one case: for each figure the median of its pairs.
type Case struct {
	Name  string       `json:"name" name:"printed"`
	Pairs int          `json:"pairs"`
	Old   outcome.Cost `json:"old_"`
	New   outcome.Cost `json:"new_"`
	CPU   float64      `json:"cpu_ratio"` // new ÷ old, the median of the pairs' ratios
}

// An Estimate is the result of all pairs together.
type Estimate struct {
	Pairs    int       `json:"pairs"`    // usable pairs
	CPU      Ratio     `json:"cpu"`      // of the sums: the whole corpus under both commands
	Memory   Ratio     `json:"memory"`   // of the sums of the peaks
	Cases    []Case    `json:"cases"`    // in the order of their first pairs
	Worst    []Case    `json:"worst"`    // confirmed ones, see Confirm
	Warnings []Warning `json:"warnings"` // reasons why a figure may mislead
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
