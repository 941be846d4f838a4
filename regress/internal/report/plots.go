package report

import (
	"math"
	"strings"

	"muster/internal/plot"
)

// costPlot draws the CPU times of the cases of a Cost, old against new, as one svg element. A dot above the line takes
// longer than before. It returns "" if there is nothing to draw.
func costPlot(c *Cost) (string, error) {
	if c == nil || !c.CPU.IsKnown() {
		return "", nil
	}
	chart := plot.Chart{
		Title: "CPU time of each case",
		X:     plot.Axis{Label: "old CPU time, ms", Log: true}, Y: plot.Axis{Label: "new CPU time, ms", Log: true},
	}
	low, high := math.Inf(1), 0.0
	var dots []plot.Point
	for _, one := range c.Cases {
		p := plot.Point{X: one.Old.CPU.Seconds() * 1000, Y: one.New.CPU.Seconds() * 1000}
		if chart.Draws(p) {
			dots = append(dots, p)
			low, high = min(low, p.X, p.Y), max(high, p.X, p.Y)
		}
	}
	if len(dots) == 0 {
		return "", nil
	}
	low, high = low/1.1, high*1.1
	chart.Lines = []plot.Line{
		{Name: "one case, CPU time in ms", Form: plot.Cloud, Points: dots},
		{Name: "old = new", Form: plot.Rule, Points: []plot.Point{{X: low, Y: low}, {X: high, Y: high}}},
	}
	var b strings.Builder
	err := chart.SVG(&b)
	return b.String(), err
}
