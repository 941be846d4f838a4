// Package stat summarises repeated measurements. It takes numbers and returns values: a median
// with its confidence interval, the ratio of two series, and warnings about figures that may mislead.
//
// It assumes nothing about the distribution of times, which is never normal: an interruption
// makes a run longer and nothing makes one shorter. The package must not measure, print or
// decide what to do.
package stat

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Level is the confidence level of intervals.
const Level = 0.95

// SamplesMin is the least number of samples whose interval can reach Level.
const SamplesMin = 6

// A Summary is the median of a series and its confidence interval.
type Summary struct {
	N      int     `json:"-"`      // samples
	Median float64 `json:"median"` // the middle sample, or the mean of the two in the middle
	Low    float64 `json:"low"`    // the interval for the median of all possible runs
	High   float64 `json:"high"`
	// Confidence is the probability that the interval holds that median. It is at least Level
	// from SamplesMin samples on. With fewer samples the interval is their range, and the
	// confidence follows: 0 for one sample, 1/2 for two, 15/16 for five.
	Confidence float64 `json:"confidence"`
}

// Summarize returns the median of the samples and its interval. It does not change samples.
// Without samples it returns the zero Summary. If any sample is not a finite number, all
// figures are NaN, so that nobody takes them for results.
//
// The ends of the interval are samples (order statistics), as in benchstat, so the interval is
// valid for any distribution.
func Summarize(samples []float64) Summary {
	n := len(samples)
	if n == 0 {
		return Summary{}
	}
	if slices.ContainsFunc(samples, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return Summary{N: n, Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	sample := benchmath.NewSample(slices.Clone(samples), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, Level)
	if n < SamplesMin {
		// The median is outside only if all samples lie on the same side of it.
		return Summary{N: n, Median: s.Center, Low: sample.Values[0], High: sample.Values[n-1],
			Confidence: 1 - math.Pow(2, 1-float64(n))}
	}
	return Summary{N: n, Median: s.Center, Low: s.Lo, High: s.Hi, Confidence: s.Confidence}
}

// Spread returns the larger distance from the median to an end of the interval, relative to
// the median: 0.05 is ±5 %. It is NaN if the median is 0.
func (s Summary) Spread() float64 {
	if s.Median == 0 {
		return math.NaN()
	}
	return max(s.High-s.Median, s.Median-s.Low) / math.Abs(s.Median)
}

// Ratio summarises numerator ÷ denominator, round by round. Both series were measured in
// turns: sample i of both belongs to round i. A disturbance of a round affects both samples,
// so each round gives one ratio. The result's median is the median of those ratios. It ignores
// samples of a round that the other series lacks. It returns the zero Summary if a round gives no ratio.
func Ratio(numerator, denominator []float64) Summary {
	var ratios []float64
	for i := range min(len(numerator), len(denominator)) {
		if !(denominator[i] > 0) || !(numerator[i] >= 0) {
			return Summary{}
		}
		ratios = append(ratios, numerator[i]/denominator[i])
	}
	return Summarize(ratios)
}
