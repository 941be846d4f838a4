package lab

import (
	"muster/internal/plot"
	"muster/lab/stat"
)

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
