package lab

import (
	"cmp"
	"slices"

	"muster/internal/plot"
	"muster/lab/stat"
)

// linesMax is the largest number of lines that a chart highlights. Further lines are grey.
const linesMax = 6

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

// bars returns a chart with a bar for each thing with a figure, the least one first: its median
// divided by divisor. The axis is logarithmic.
func (r view) bars(title, label string, things []string, unit string, divisor float64, nameOf func(thing string) string) []plot.Chart {
	type bar struct {
		thing string
		point plot.Point
	}
	var all []bar
	for _, thing := range things {
		for _, p := range r.scaledPoint(0, nameOf(thing), unit, 1/divisor) {
			all = append(all, bar{thing, p})
		}
	}
	slices.SortStableFunc(all, func(a, b bar) int { return cmp.Compare(a.point.Y, b.point.Y) })
	c := plot.Chart{Title: title, X: plot.Axis{Names: []string{}}, Y: plot.Axis{Label: label + ", logarithmic", Log: true}, Lines: []plot.Line{{Name: label, Form: plot.Bars}}}
	for _, b := range all {
		if b.point.Y <= 0 {
			continue // cannot be on a logarithmic axis
		}
		b.point.X = float64(len(c.X.Names))
		c.X.Names = append(c.X.Names, b.thing)
		c.Lines[0].Points = append(c.Lines[0].Points, b.point)
	}
	return c.Drawable()
}
