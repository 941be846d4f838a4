package plot

import (
	"fmt"
	"math"
	"slices"
)

// A Chart is one picture.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line // in the order of the legend; the position among those not muted determines colour and marker
}

// An Axis describes what is drawn along it. A linear Y axis always includes 0, so that heights
// are proportional to the values.
type Axis struct {
	Label string // quantity and unit
	Log   bool   // logarithmic: all values must be above 0

	// Names are the things that 0, 1, 2 … on an X axis stand for. The chart then has one line, of
	// Bars, which are drawn from left to right, one below the other, each with its name and value.
	Names []string

	// Muted lists the names whose bars are grey. The chart is about the others.
	Muted []string
}

// A Line is a series of points, drawn in the order of their X.
type Line struct {
	Name   string // in the legend
	Form   Form
	Muted  bool // thin and grey, below the others; the legend has one entry for all muted lines
	Points []Point
}

// A Form is how the points of a line are drawn.
type Form int

// The forms.
const (
	Joined Form = iota // a line through the points, each with a marker
	Bars               // a bar from 0, or from below the least on a logarithmic axis, as wide as the distance between points
)

// A Point is a measured value and its interval. Low and High are both 0 if the point has no
// interval.
type Point struct {
	X, Y, Low, High float64
}

// HasInterval reports whether the point has an interval.
func (p Point) HasInterval() bool { return p.Low != 0 || p.High != 0 }

// Beyond these, scales and their ticks would overflow.
const (
	magnitudeMax = 1e290
	magnitudeMin = 1e-290
)

// Drawable returns the chart without the points that its axes cannot show, and without empty lines. It
// returns no chart if no line is left.
func (c Chart) Drawable() []Chart {
	var lines []Line
	for _, l := range c.Lines {
		l.Points = slices.DeleteFunc(slices.Clone(l.Points), func(p Point) bool { return !c.draws(p) })
		if len(l.Points) > 0 {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	c.Lines = lines
	return []Chart{c}
}

// draws reports whether the axes can show a point and its interval.
func (c Chart) draws(p Point) bool { return c.check(p) == nil }

func (c Chart) check(p Point) error {
	for _, v := range []struct {
		name  string
		value float64
		log   bool
	}{{"x", p.X, c.X.Log}, {"y", p.Y, c.Y.Log}, {"low", p.Low, false}, {"high", p.High, false}} {
		size := math.Abs(v.value)
		switch {
		case math.IsNaN(size) || math.IsInf(size, 0):
			return fmt.Errorf("%s = %v at x = %v is not a finite number: leave out points that have no value", v.name, v.value, p.X)
		case v.log && v.value <= 0:
			return fmt.Errorf("%s = %v at x = %v cannot be on a logarithmic axis: leave out the point or make the axis linear", v.name, v.value, p.X)
		case size > magnitudeMax || size > 0 && size < magnitudeMin:
			return fmt.Errorf("%s = %v at x = %v cannot be drawn: values range from %v to %v: use another unit", v.name, v.value, p.X, magnitudeMin, magnitudeMax)
		}
	}
	if n := len(c.X.Names); c.X.Names != nil && !(p.X >= 0 && p.X < float64(n) && p.X == math.Trunc(p.X)) {
		return fmt.Errorf("x = %v has no name: the names are those of 0 to %d", p.X, n-1)
	}
	if p.HasInterval() && (p.Low > p.Y || p.High < p.Y) {
		return fmt.Errorf("y = %v at x = %v is not in its interval from %v to %v", p.Y, p.X, p.Low, p.High)
	}
	return nil
}
