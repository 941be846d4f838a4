// Package stat turns repeated measurements into figures that may be shown: a median with
// the interval in which it lies, the ratio of two series, how time grows with the amount
// of work, and warnings where a figure does not mean what it seems to.
//
// It assumes nothing about how times are distributed, for they are never normal: an
// interruption makes a run longer and nothing makes one shorter. The package takes
// numbers and returns values; it must not measure, print or decide what to do.
package stat

import (
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/perf/benchmath"
)

// Level is the confidence that intervals are meant to have.
const Level = 0.95

// SamplesMin is the number of samples from which an interval can have the confidence of
// Level.
const SamplesMin = 6

// A Summary says where the median of a series lies.
type Summary struct {
	N      int     // samples
	Median float64 // the middle one, or half way between the two in the middle
	Low    float64 // the interval that holds the median of all runs there could be …
	High   float64
	// … with this probability: at least Level from SamplesMin samples on. With fewer the
	// interval goes from the least to the greatest sample and the confidence is what
	// that gives: 0 for one sample, 1/2 for two, 15/16 for five.
	Confidence float64
}

// Summarize returns the median of the samples, which it leaves as they are, and its
// interval. Without samples it returns the zero Summary. One sample that is not a finite
// number makes all figures NaN: what cannot be told must not look like a figure.
//
// The interval's ends are samples (order statistics), so that it holds whatever the
// distribution is; it is the one of benchstat.
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

// Seconds is Summarize of durations, in seconds.
func Seconds(samples []time.Duration) Summary {
	seconds := make([]float64, len(samples))
	for i, d := range samples {
		seconds[i] = d.Seconds()
	}
	return Summarize(seconds)
}

// Spread is how far the interval reaches from the median at most, as a part of the
// median: 0.05 is ±5 %. It is NaN where the median is 0 or none.
func (s Summary) Spread() float64 {
	if s.Median == 0 {
		return math.NaN()
	}
	return max(s.High-s.Median, s.Median-s.Low) / math.Abs(s.Median)
}

// Ratio is how many times the first series is the second, for series that were measured
// in turns: sample i of both was taken in round i. What disturbs a round disturbs both,
// so each round gives a ratio of its own and the median is that of the ratios.
func Ratio(numerator, denominator []float64) (Summary, error) {
	if len(numerator) != len(denominator) {
		return Summary{}, fmt.Errorf("a ratio of %d to %d samples: both series need one in each round", len(numerator), len(denominator))
	}
	ratios := make([]float64, len(numerator))
	for i, d := range denominator {
		if !(d > 0) || !(numerator[i] >= 0) {
			return Summary{}, fmt.Errorf("round %d gives no ratio of %v to %v: repeat it with more work, so that both take time", i+1, numerator[i], d)
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

// Growth is the power of n with which time grows: 1 when it is in proportion to the
// number of operations, 0 when it does not depend on it. It is the median slope between
// any two runs of different n, both on logarithmic scales (Theil and Sen's estimate), so
// that one run that was disturbed does not matter.
func Growth(runs []Run) (float64, error) {
	var slopes []float64
	for i, a := range runs {
		if a.N <= 0 || a.Wall <= 0 {
			return 0, fmt.Errorf("%d operations in %v say nothing about growth: measure one operation or more for as long as the clock can tell", a.N, a.Wall)
		}
		for _, b := range runs[:i] {
			if a.N != b.N {
				slopes = append(slopes, math.Log(float64(a.Wall)/float64(b.Wall))/math.Log(float64(a.N)/float64(b.N)))
			}
		}
	}
	if len(slopes) == 0 {
		return 0, fmt.Errorf("%d runs of one number of operations say nothing about growth: measure two numbers of operations or more", len(runs))
	}
	return Summarize(slopes).Median, nil
}
