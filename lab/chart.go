package lab

import (
	"slices"

	"muster/internal/plot"
	"muster/lab/stat"
)

// drawable is the chart with what can be drawn of it: points that an axis has a place
// for, and lines that have such. Without any there is no chart.
func drawable(c plot.Chart) []plot.Chart {
	var lines []plot.Line
	for _, l := range c.Lines {
		l.Points = slices.DeleteFunc(slices.Clone(l.Points), func(p plot.Point) bool { return !c.Draws(p) })
		if len(l.Points) > 0 {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	c.Lines = lines
	return []plot.Chart{c}
}

// points is the point of a benchmark's median, or none without a figure.
func (r view) points(x float64, name, unit string) []plot.Point {
	return pointOf(x, r.Summary(name, unit))
}

// pointOf is a median with its interval, which one sample has not.
func pointOf(x float64, s stat.Summary) []plot.Point {
	switch s.N {
	case 0:
		return nil
	case 1:
		return []plot.Point{{X: x, Y: s.Median}}
	}
	return []plot.Point{{X: x, Y: s.Median, Low: s.Low, High: s.High}}
}

// scaled is the point of a benchmark's median, in another unit; none without a figure.
func (r view) scaled(x float64, name, unit string, factor float64) []plot.Point {
	points := r.points(x, name, unit)
	for i := range points {
		p := &points[i]
		p.Y, p.Low, p.High = p.Y*factor, p.Low*factor, p.High*factor
	}
	return points
}
