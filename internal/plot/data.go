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
	Cloud              // a dot for each point, and no line
	Rule               // a thin line without markers, as a reference for the others
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
		l.Points = slices.DeleteFunc(slices.Clone(l.Points), func(p Point) bool { return !c.Draws(p) })
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

// Draws reports whether the axes can show a point and its interval.
func (c Chart) Draws(p Point) bool {
	for _, v := range []float64{p.X, p.Y, p.Low, p.High} {
		if size := math.Abs(v); !(size <= magnitudeMax) || size > 0 && size < magnitudeMin {
			return false
		}
	}
	switch named := c.X.Names != nil; {
	case c.X.Log && p.X <= 0, c.Y.Log && p.Y <= 0, p.HasInterval() && (p.Low > p.Y || p.High < p.Y):
		return false
	case named && !(p.X >= 0 && p.X < float64(len(c.X.Names)) && p.X == math.Trunc(p.X)):
		return false
	}
	return true
}

// check fails if a chart has more than Drawable returns, or names and not one row of bars.
func (c Chart) check() error {
	shown := len(c.Lines) > 0 && (c.X.Names == nil || len(c.Lines) == 1 && c.Lines[0].Form == Bars)
	for _, l := range c.Lines {
		hidden := func(p Point) bool { return !c.Draws(p) }
		shown = shown && len(l.Points) > 0 && !slices.ContainsFunc(l.Points, hidden)
	}
	if !shown {
		return fmt.Errorf("chart %q cannot be drawn: leave out lines without points, and points that its axes cannot show", c.Title)
	}
	return nil
}
