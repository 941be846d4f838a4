package report

import (
	"muster/regress/internal/cost"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// The line of a Cost.

type wireCost struct {
	Type       string         `json:"type"`
	CPU        *wireRatio     `json:"cpu"`
	Memory     *wireRatio     `json:"memory"`
	Measured   int            `json:"measured"`
	Pairs      int            `json:"pairs"`
	Indicative bool           `json:"indicative"`
	Why        string         `json:"why"`
	Against    string         `json:"against,omitempty"`
	Took       millis         `json:"took_ms"`
	Over       []string       `json:"over"`
	Warnings   []wireWarning  `json:"warnings"`
	Worst      []wireCostCase `json:"worst"`
	Cases      []wireCostCase `json:"cases"`
}

// wireRatio has no interval where low and high are null.
type wireRatio struct {
	Ratio float64  `json:"ratio"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

type wireWarning struct {
	Kind cost.Kind `json:"kind"`
	Text string    `json:"text"`
}

type wireCostCase struct {
	Name    printed `json:"name"`
	Pairs   int     `json:"pairs"`
	Ratio   float64 `json:"cpu_ratio"`
	OldCPU  millis  `json:"old_cpu_ms"`
	NewCPU  millis  `json:"new_cpu_ms"`
	OldWall millis  `json:"old_wall_ms"`
	NewWall millis  `json:"new_wall_ms"`
	OldPeak int64   `json:"old_peak_rss_kib"`
	NewPeak int64   `json:"new_peak_rss_kib"`
}

func costToWire(c Cost) wireCost {
	w := wireCost{
		Type: "cost", CPU: toWireRatio(c.CPU), Memory: toWireRatio(c.Memory), Measured: c.Measured, Pairs: c.Pairs,
		Indicative: c.Indicative, Why: readable.Text(c.Why), Against: readable.Text(c.Against), Took: millis(c.Took), Over: append([]string{}, texts(c.Over)...),
		Warnings: []wireWarning{}, Worst: costCases(c.Worst), Cases: costCases(c.Cases),
	}
	for _, warning := range c.Warnings {
		w.Warnings = append(w.Warnings, wireWarning{warning.Kind, readable.Text(warning.Text)})
	}
	return w
}

func texts(list []string) (safe []string) {
	for _, text := range list {
		safe = append(safe, readable.Text(text))
	}
	return safe
}

func toWireRatio(r cost.Ratio) *wireRatio {
	if !r.Told() {
		return nil
	}
	w := &wireRatio{Ratio: finite(r.Value)}
	if low, high := finite(r.Low), finite(r.High); r.Bounded() {
		w.Low, w.High = &low, &high
	}
	return w
}

func costCases(list []cost.Case) []wireCostCase {
	lines := []wireCostCase{}
	for _, c := range list {
		lines = append(lines, wireCostCase{
			printed(c.Name), c.Pairs, finite(c.CPU),
			millis(c.Old.CPU), millis(c.New.CPU), millis(c.Old.Wall), millis(c.New.Wall), c.Old.PeakRSS, c.New.PeakRSS,
		})
	}
	return lines
}

func (w wireCost) event() Event {
	c := Cost{
		Estimate: cost.Estimate{Pairs: w.Pairs, CPU: w.CPU.ratio(), Memory: w.Memory.ratio(), Cases: casesOf(w.Cases), Worst: casesOf(w.Worst)},
		Measured: w.Measured, Indicative: w.Indicative, Why: w.Why, Against: w.Against, Took: w.Took.duration(),
	}
	c.Over = append(c.Over, w.Over...)
	for _, warning := range w.Warnings {
		c.Warnings = append(c.Warnings, cost.Warning{Kind: warning.Kind, Text: warning.Text})
	}
	return c
}

func (w *wireRatio) ratio() (r cost.Ratio) {
	if w == nil {
		return r
	}
	r.Value = w.Ratio
	if w.Low != nil && w.High != nil {
		r.Low, r.High = *w.Low, *w.High
	}
	return r
}

func casesOf(lines []wireCostCase) (list []cost.Case) {
	for _, l := range lines {
		list = append(list, cost.Case{
			Name: string(l.Name), Pairs: l.Pairs, CPU: l.Ratio,
			Old: outcome.Cost{CPU: l.OldCPU.duration(), Wall: l.OldWall.duration(), PeakRSS: l.OldPeak},
			New: outcome.Cost{CPU: l.NewCPU.duration(), Wall: l.NewWall.duration(), PeakRSS: l.NewPeak},
		})
	}
	return list
}
