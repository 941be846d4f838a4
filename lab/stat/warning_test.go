package stat_test

import (
	"slices"
	"strings"
	"testing"

	"muster/lab/stat"
)

func TestWarnings(t *testing.T) {
	const ms = 0.001
	steady := times(6, 100*ms)
	for name, c := range map[string]struct {
		m    stat.Measurement
		want []stat.Kind
		text []string // parts of the last warning
	}{
		"nothing wrong": {
			m: stat.Measurement{Ops: 1e6, Wall: steady, CPU: times(6, 190*ms), Cores: 2},
		},
		"no runs": {m: stat.Measurement{Ops: 1e6}},
		"too short": {
			m:    stat.Measurement{Ops: 100, Wall: times(6, 0.04*ms)},
			want: []stat.Kind{stat.TooShort},
			text: []string{"40µs", "at least 2500 operations"},
		},
		"no time at all": {
			m:    stat.Measurement{Ops: 100, Wall: times(6, 0)},
			want: []stat.Kind{stat.TooShort, stat.ElidingSuspected},
		},
		"too noisy": {
			m:    stat.Measurement{Ops: 1e6, Wall: []float64{100 * ms, 101 * ms, 102 * ms, 103 * ms, 104 * ms, 120 * ms}},
			want: []stat.Kind{stat.TooNoisy},
			text: []string{"6 runs", "between 100ms and 120ms", "±17.1 %", "more or longer runs"},
		},
		"almost ±5 %": {
			m: stat.Measurement{Ops: 1e6, Wall: []float64{96 * ms, 100 * ms, 100 * ms, 100 * ms, 100 * ms, 104 * ms}},
		},
		// A probe whose workers wait for one lock, or that may use one processor only.
		"runs on one core": {
			m:    stat.Measurement{Ops: 1e6, Wall: steady, CPU: times(6, 99*ms), Cores: 8},
			want: []stat.Kind{stat.OneCore},
			text: []string{"8 cores", "0.99 were busy", "taskset"},
		},
		"one core was meant":        {m: stat.Measurement{Ops: 1e6, Wall: steady, CPU: times(6, 99*ms), Cores: 1}},
		"CPU time was not taken":    {m: stat.Measurement{Ops: 1e6, Wall: steady, Cores: 8}},
		"CPU time is not reported":  {m: stat.Measurement{Ops: 1e6, Wall: steady, CPU: times(6, 0), Cores: 8}},
		"a little more than a core": {m: stat.Measurement{Ops: 1e6, Wall: steady, CPU: times(6, 111*ms), Cores: 8}},
		// A loop of 10⁹ square roots that the compiler removed.
		"elided: faster than a call": {
			m:    stat.Measurement{Ops: 1e9, Wall: steady},
			want: []stat.Kind{stat.ElidingSuspected},
			text: []string{"0.1 ns", "use each result"},
		},
		"two cores share the time": {
			m: stat.Measurement{Ops: 5e8, Wall: steady, CPU: times(6, 200*ms), Cores: 2},
		},
		"no operations counted": {m: stat.Measurement{Wall: steady}},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.m.Warnings()
			var kinds []stat.Kind
			for _, w := range got {
				kinds = append(kinds, w.Kind)
				if !strings.Contains(w.Text, "; ") {
					t.Errorf("%q does not name a remedy", w.Text)
				}
			}
			if !slices.Equal(kinds, c.want) {
				t.Fatalf("warnings %q, want %v", got, c.want)
			}
			for _, text := range c.text {
				if last := got[len(got)-1].Text; !strings.Contains(last, text) {
					t.Errorf("%q lacks %q", last, text)
				}
			}
		})
	}
}

func times(n int, seconds float64) []float64 { return slices.Repeat([]float64{seconds}, n) }
