package stat_test

import (
	"math"
	"slices"
	"testing"

	"muster/lab/stat"
)

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		samples []float64
		want    stat.Summary
	}{
		{nil, stat.Summary{}},
		{[]float64{7}, stat.Summary{N: 1, Median: 7, Low: 7, High: 7}},
		{[]float64{9, 7}, stat.Summary{N: 2, Median: 8, Low: 7, High: 9, Confidence: 0.5}},
		{[]float64{5, 1, 4, 2, 3}, stat.Summary{N: 5, Median: 3, Low: 1, High: 5, Confidence: 0.9375}},
		{[]float64{6, 5, 1, 4, 2, 3}, stat.Summary{N: 6, Median: 3.5, Low: 1, High: 6, Confidence: 0.96875}},
	} {
		before := slices.Clone(c.samples)
		if got := stat.Summarize(c.samples); got != c.want {
			t.Errorf("Summarize(%v) = %+v, want %+v", before, got, c.want)
		}
		if !slices.Equal(c.samples, before) {
			t.Errorf("Summarize reordered %v to %v", before, c.samples)
		}
	}
}

func TestSummarizeNeedsSixForItsLevel(t *testing.T) {
	for n := 1; n <= 60; n++ {
		s := stat.Summarize(make([]float64, n))
		if enough := n >= stat.SamplesMin; enough != (s.Confidence >= stat.Level) {
			t.Errorf("%d samples reach a confidence of %v", n, s.Confidence)
		}
	}
}

func TestSummarizeWithoutNumbers(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		s := stat.Summarize([]float64{1, bad, 3, 4, 5, 6, 7})
		if s.N != 7 || !math.IsNaN(s.Median) || !math.IsNaN(s.Low) || !math.IsNaN(s.High) || s.Confidence != 0 {
			t.Errorf("with %v among the samples: %+v", bad, s)
		}
	}
}

func TestSpread(t *testing.T) {
	if got := (stat.Summary{Median: 10, Low: 9.5, High: 12}).Spread(); got != 0.2 {
		t.Errorf("the spread is %v, want 0.2", got)
	}
	if got := (stat.Summary{}).Spread(); !math.IsNaN(got) {
		t.Errorf("the spread of nothing is %v, want NaN", got)
	}
}

// A machine that slows down from round to round affects both series alike.
func TestRatioIsTakenWithinRounds(t *testing.T) {
	s := stat.Ratio([]float64{2, 4, 8, 16, 32, 64}, []float64{1, 2, 4, 8, 16, 32})
	if s.Median != 2 || s.Low != 2 || s.High != 2 || s.N != 6 {
		t.Errorf("the ratio is %+v, want exactly 2", s)
	}
}

// A round that gives no ratio, and a round of one series only.
func TestRatioOfOddRounds(t *testing.T) {
	for _, c := range [][2][]float64{{{1, 2}, {1, 0}}, {{1, 2}, {1, -1}}, {{-1, 2}, {1, 1}}, {{1, 2}, {1, math.NaN()}}, {{1, math.NaN()}, {1, 1}}, {nil, {1}}} {
		if s := stat.Ratio(c[0], c[1]); s != (stat.Summary{}) {
			t.Errorf("Ratio(%v, %v) = %+v", c[0], c[1], s)
		}
	}
	if s := stat.Ratio([]float64{6, 8}, []float64{2}); s.N != 1 || s.Median != 3 {
		t.Errorf("%+v, want one round", s)
	}
}
