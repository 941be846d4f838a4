package lab

import (
	"slices"

	"muster/internal/plot"
	"muster/lab/stat"
)

// drawableCharts returns the chart without the points that its axes cannot show, and without
// empty lines. It returns no chart if no line is left.
func drawableCharts(c plot.Chart) []plot.Chart {
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

// medianLine returns a line with the median at each x of the benchmark that of names.
func (r view) medianLine(name string, xs []int, unit string, of func(x int) string) plot.Line {
	l := plot.Line{Name: name}
	for _, x := range xs {
		l.Points = append(l.Points, r.medianPoint(float64(x), of(x), unit)...)
	}
	return l
}

// medianPoint returns the point of a benchmark's median, or no point without a figure.
func (r view) medianPoint(x float64, name, unit string) []plot.Point {
	return summaryPoint(x, r.Summary(name, unit))
}

// summaryPoint returns a median with its interval. One sample has no interval.
func summaryPoint(x float64, s stat.Summary) []plot.Point {
	switch s.N {
	case 0:
		return nil
	case 1:
		return []plot.Point{{X: x, Y: s.Median}}
	}
	return []plot.Point{{X: x, Y: s.Median, Low: s.Low, High: s.High}}
}

// scaledPoint is like medianPoint, in another unit.
func (r view) scaledPoint(x float64, name, unit string, factor float64) []plot.Point {
	points := r.medianPoint(x, name, unit)
	for i := range points {
		p := &points[i]
		p.Y, p.Low, p.High = p.Y*factor, p.Low*factor, p.High*factor
	}
	return points
}
