// Package plot draws measurements as SVG, over linear or logarithmic axes: as lines with an
// interval for each point, as clouds of points, or as bars. Equal charts give equal bytes.
//
// The pictures need no external fonts or scripts. Readers can distinguish the lines without
// colours, and dark pages get dark pictures. The package must not measure or judge, and does
// not read or write files.
package plot

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Chart is one picture.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line // in the order of the legend; the position determines colour and marker
}

// An Axis describes what is drawn along it. A linear Y axis always includes 0, so that heights
// are proportional to the values.
type Axis struct {
	Label string // quantity and unit
	Log   bool   // logarithmic: all values must be above 0
}

// A Line is a series of points, drawn in the order of their X.
type Line struct {
	Name   string // in the legend
	Form   Form
	Points []Point
}

// A Form is how the points of a line are drawn.
type Form int

// The forms.
const (
	Joined Form = iota // a line through the points, each with a marker
	Cloud              // a dot for each point, and no line
	Rule               // a thin line without markers, as a reference for the others
	Bars               // a bar from 0 to each point, as wide as the distance between points
)

// A Point is a measured value and its interval. Low and High are both 0 if the point has no
// interval.
type Point struct {
	X, Y, Low, High float64
}

// HasInterval reports whether the point has an interval.
func (p Point) HasInterval() bool { return p.Low != 0 || p.High != 0 }

// SVG writes the chart as one svg element, which is also a complete file. It fails if the
// chart has a line without points, values that are not finite, or values not above 0 on a
// logarithmic axis.
func (c Chart) SVG(w io.Writer) error {
	p, err := c.picture()
	if err != nil {
		return err
	}
	canvas := vgsvg.New(width, p.height())
	p.draw(draw.New(canvas))
	var raw strings.Builder
	if _, err := canvas.WriteTo(&raw); err != nil {
		return err
	}
	_, err = io.WriteString(w, restyle(raw.String(), p.chart.Title, p.height()))
	return err
}

// picture checks the chart and prepares a copy of it.
func (c Chart) picture() (picture, error) {
	if len(c.Lines) == 0 {
		return picture{}, fmt.Errorf("chart %q has no lines: leave it out where nothing was measured", c.Title)
	}
	lines := make([]Line, len(c.Lines))
	for i, l := range c.Lines {
		if len(l.Points) == 0 {
			return picture{}, fmt.Errorf("line %q of chart %q has no points: leave it out where nothing was measured", l.Name, c.Title)
		}
		for _, p := range l.Points {
			if err := c.check(p); err != nil {
				return picture{}, fmt.Errorf("line %q of chart %q: %w", l.Name, c.Title, err)
			}
		}
		points := slices.SortedStableFunc(slices.Values(l.Points), func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		lines[i] = Line{Name: cleanLabel(l.Name), Form: l.Form, Points: points}
	}
	c.Title, c.X.Label, c.Y.Label, c.Lines = cleanLabel(c.Title), cleanLabel(c.X.Label), cleanLabel(c.Y.Label), lines
	return newPicture(c), nil
}

// Beyond these, scales and their ticks would overflow.
const (
	magnitudeMax = 1e290
	magnitudeMin = 1e-290
)

// Draws reports whether the axes can show a point and its interval.
func (c Chart) Draws(p Point) bool { return c.check(p) == nil }

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
	if p.HasInterval() && (p.Low > p.Y || p.High < p.Y) {
		return fmt.Errorf("y = %v at x = %v is not in its interval from %v to %v", p.Y, p.X, p.Low, p.High)
	}
	return nil
}

const labelMax = 80

// cleanLabel makes any text fit for a picture: one line, visible characters, at most labelMax
// of them.
func cleanLabel(s string) string {
	runes := []rune(strings.Map(replaceInvisible, s))
	if len(runes) > labelMax {
		runes = append(runes[:labelMax-1], '…')
	}
	return string(runes)
}

func replaceInvisible(r rune) rune {
	if !unicode.IsGraphic(r) {
		return unicode.ReplacementChar
	}
	return r
}

// The size of pictures in points, without the legend.
const (
	width      = 640 * vg.Length(1)
	plotHeight = 360 * vg.Length(1)
)
