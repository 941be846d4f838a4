package report

import (
	"math"

	"muster/regress/internal/cost"
)

// jsonCost is what the change costs, in the last line. Its keys are promised.
type jsonCost struct {
	CPU        *float64 `json:"cpu"` // null where there is too little to tell
	CPULow     *float64 `json:"cpu_low"`
	CPUHigh    *float64 `json:"cpu_high"`
	Memory     *float64 `json:"memory"`
	MemoryLow  *float64 `json:"memory_low"`
	MemoryHigh *float64 `json:"memory_high"`
	TooLittle  bool     `json:"too_little"` // to tell, of the CPU time
	Cases      int      `json:"cases"`
	Pairs      int      `json:"pairs"`
	Indicative bool     `json:"indicative"`
	Over       []string `json:"over"`
}

// toJSONCost is nil where there are no figures.
func toJSONCost(c *Cost) *jsonCost {
	if c == nil || !c.CPU.Told() {
		return nil
	}
	j := &jsonCost{CPU: c.value(c.CPU), TooLittle: c.vague(c.CPU), Cases: c.Measured, Pairs: c.Pairs, Indicative: c.Indicative, Over: append([]string{}, texts(c.Over)...)}
	j.CPULow, j.CPUHigh = ends(c.CPU)
	if c.Memory.Told() {
		j.Memory = c.value(c.Memory)
		j.MemoryLow, j.MemoryHigh = ends(c.Memory)
	}
	return j
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

// thousandths is a ratio with the digits that may mean something.
func thousandths(ratio float64) float64 { return math.Round(finite(ratio)*1000) / 1000 }
