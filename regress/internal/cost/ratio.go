package cost

import (
	"math"
	"slices"
	"time"

	"github.com/aclements/go-moremath/stats"
)

// Level is how often an interval should hold the ratio. It is above the usual 0.95
// because a check is made many times, and each false alarm costs somebody an hour.
const Level = 0.999

// A Ratio is new ÷ old, in an interval. All three are 0 where nothing is known, Low and
// High where there are too few pairs for an interval.
type Ratio struct {
	Value float64 `line:"ratio"`
	Low   float64 `line:"low,null"`
	High  float64 `line:"high,null"`
}

// Told reports whether there is a ratio.
func (r Ratio) Told() bool { return r.Value > 0 }

// Bounded reports whether there is an interval.
func (r Ratio) Bounded() bool { return r.High > 0 }

// Precision is how far the interval reaches: 0.02 is to 2 % more than the ratio. It is
// infinite without an interval.
func (r Ratio) Precision() float64 {
	if !r.Bounded() {
		return math.Inf(1)
	}
	return r.High/r.Value - 1
}

// vagueMin is how far to either side an interval says nothing any more: that a change may
// cost a quarter more, or nothing, or less, was known before.
const vagueMin = 0.25

// Vague reports whether there is too little to tell: no interval, or one that reaches far
// and holds 1.
func (r Ratio) Vague() bool { return !r.Bounded() || r.vagueAt(1) }

// vagueAt reports whether an interval reaches far, and on which side of x the ratio is
// stays open.
func (r Ratio) vagueAt(x float64) bool { return r.Precision() > vagueMin && r.Low <= x && x < r.High }

// share is one case's part in a ratio of sums: what it takes of either side is
// size·√ratio and size÷√ratio, so that old and new are treated alike.
type share struct {
	size float64   // typical of both sides
	logs []float64 // of the ratio of each pair, in order
	log  float64   // their middle
}

type shares []share

// shareOf takes one figure of every pair; where it is not above 0 on both sides the pair
// is left out.
func shareOf(cases []measured, figure func(Pair) (old, now float64)) shares {
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

// casesMin is from how many cases on they can stand for the corpus, heavy ones counted by
// their share in the whole.
const casesMin = 10

// ratio is the ratio of the sums with its interval: from how the cases differ where there
// are enough of them, else from how the pairs of each do.
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

// freedomMin is from how many degrees of freedom on an interval says more than nothing.
const freedomMin = 3

func (all shares) sums() (old, now float64) {
	for _, s := range all {
		old += s.size * math.Exp(-s.log/2)
		now += s.size * math.Exp(s.log/2)
	}
	return old, now
}

// effective is how many cases of equal size would weigh as these do (Kish).
func (all shares) effective() float64 {
	var sum, squares float64
	for _, s := range all {
		sum += s.size
		squares += s.size * s.size
	}
	return sum * sum / squares
}

// amongCases is the standard deviation of the logarithm of the ratio if the cases were
// drawn from a larger corpus.
func (all shares) amongCases(old, now float64) float64 {
	var squares float64
	for _, s := range all {
		influence := s.size * (math.Exp(s.log/2)/now - math.Exp(-s.log/2)/old)
		squares += influence * influence
	}
	n := float64(len(all))
	return math.Sqrt(squares * n / (n - 1))
}

// amongPairs is the same if only the times were drawn anew, for the very same cases, with
// the degrees of freedom (Satterthwaite). Cases with too few pairs have none.
func (all shares) amongPairs(old, now float64) (deviation, freedom float64) {
	var variance, square float64
	for _, s := range all {
		weight := s.size * (math.Exp(s.log/2)/now + math.Exp(-s.log/2)/old) / 2
		v, f := winsorized(s.logs)
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

// trimPart is how much of the pairs of a case is left out at either end.
const trimPart = 0.2

// trimmedMean is the mean without the ends; of few pairs the median.
func trimmedMean(values []float64) float64 {
	if len(values) < 5 {
		return median(values)
	}
	sorted := slices.Sorted(slices.Values(values))
	cut := int(trimPart * float64(len(sorted)))
	return mean(sorted[cut : len(sorted)-cut])
}

// winsorized is the variance of the trimmed mean, and its degrees of freedom (Tukey and
// McLaughlin): what is cut off counts as if it was where the cut is.
func winsorized(values []float64) (variance, freedom float64) {
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

// median of values, 0 of none.
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

// quantile is how many standard deviations an interval of Level reaches to either side.
func quantile(freedom float64) float64 {
	const freedomMax = 1e6 // from there on it is the normal distribution's
	return stats.InvCDF(stats.TDist{V: min(freedom, freedomMax)})((1 + Level) / 2)
}
