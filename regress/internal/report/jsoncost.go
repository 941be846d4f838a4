package report

import (
	"math"

	"muster/regress/internal/cost"
)

// costSummary is the cost of the change in the last line. Scripts rely on its keys.
type costSummary struct {
	CPU        *float64 `line:"cpu"` // null if the pairs decide nothing
	CPULow     *float64 `line:"cpu_low"`
	CPUHigh    *float64 `line:"cpu_high"`
	Memory     *float64 `line:"memory"`
	MemoryLow  *float64 `line:"memory_low"`
	MemoryHigh *float64 `line:"memory_high"`
	TooLittle  bool     `line:"too_little"` // the pairs decide nothing about CPU time
	Cases      int      `line:"cases"`
	Pairs      int      `line:"pairs"`
	Indicative bool     `line:"indicative"`
	Over       []string `line:"over"`
}

// costSummaryOf returns nil if there are no figures.
func costSummaryOf(c *Cost) *costSummary {
	if c == nil || !c.CPU.IsKnown() {
		return nil
	}
	s := &costSummary{CPU: c.value(c.CPU), TooLittle: c.vague(c.CPU), Cases: c.Measured, Pairs: c.Pairs, Indicative: c.Indicative, Over: c.Over}
	s.CPULow, s.CPUHigh = ends(c.CPU)
	if c.Memory.IsKnown() {
		s.Memory = c.value(c.Memory)
		s.MemoryLow, s.MemoryHigh = ends(c.Memory)
	}
	return s
}

func (c *Cost) value(r cost.Ratio) *float64 {
	if c.vague(r) {
		return nil
	}
	value := thousandths(r.Value)
	return &value
}

func ends(r cost.Ratio) (low, high *float64) {
	if !r.Bounded() {
		return nil, nil
	}
	l, h := thousandths(r.Low), thousandths(r.High)
	return &l, &h
}

// thousandths rounds a ratio to its significant digits.
func thousandths(ratio float64) float64 { return math.Round(ratio*1000) / 1000 }
