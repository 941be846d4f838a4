// Package stat summarises repeated measurements. It takes numbers and returns values: a median
// with its confidence interval, the ratio of two series, the growth of time with the amount of
// work, and warnings about figures that may mislead.
//
// It assumes nothing about the distribution of times, which is never normal: an interruption
// makes a run longer and nothing makes one shorter. The package must not measure, print or
// decide what to do.
package stat

import (
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/perf/benchmath"
)

// Level is the confidence level of intervals.
const Level = 0.95

// SamplesMin is the least number of samples whose interval can reach Level.
const SamplesMin = 6

// A Summary is the median of a series and its confidence interval.
type Summary struct {
	N      int     // samples
	Median float64 // the middle sample, or the mean of the two in the middle
	Low    float64 // the interval for the median of all possible runs
	High   float64
	// Confidence is the probability that the interval holds that median. It is at least Level
	// from SamplesMin samples on. With fewer samples the interval is their range, and the
	// confidence follows: 0 for one sample, 1/2 for two, 15/16 for five.
	Confidence float64
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

// Seconds is like Summarize, for durations. The figures are seconds.
func Seconds(samples []time.Duration) Summary {
	seconds := make([]float64, len(samples))
	for i, d := range samples {
		seconds[i] = d.Seconds()
	}
	return Summarize(seconds)
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
// so each round gives one ratio. The result's median is the median of those ratios.
func Ratio(numerator, denominator []float64) (Summary, error) {
	if len(numerator) != len(denominator) {
		return Summary{}, fmt.Errorf("no ratio of %d samples to %d: both series need one sample in each round", len(numerator), len(denominator))
	}
	ratios := make([]float64, len(numerator))
	for i, d := range denominator {
		if !(d > 0) || !(numerator[i] >= 0) {
			return Summary{}, fmt.Errorf("no ratio of %[2]v to %[3]v in round %[1]d: repeat it with more work, so that both take time", i+1, numerator[i], d)
		}
		ratios[i] = numerator[i] / d
	}
	return Summarize(ratios), nil
}

// A Run is one measurement of N operations.
type Run struct {
	N    int
	Wall time.Duration
}

// Growth estimates the exponent k in time ∝ n^k: 1 if time is proportional to the number of
// operations, 0 if it does not depend on it. It is the median slope between any two runs of
// different n on logarithmic scales (the Theil–Sen estimator), so one disturbed run does not
// matter.
func Growth(runs []Run) (float64, error) {
	var slopes []float64
	for i, a := range runs {
		if a.N <= 0 || a.Wall <= 0 {
			return 0, fmt.Errorf("%d operations in %v give no growth: measure at least one operation, for longer than the clock's resolution", a.N, a.Wall)
		}
		for _, b := range runs[:i] {
			if a.N != b.N {
				slopes = append(slopes, math.Log(float64(a.Wall)/float64(b.Wall))/math.Log(float64(a.N)/float64(b.N)))
			}
		}
	}
	if len(slopes) == 0 {
		return 0, fmt.Errorf("%d runs of one number of operations give no growth: measure at least two different numbers", len(runs))
	}
	return Summarize(slopes).Median, nil
}
