package load

import (
	"fmt"
	"math"
	"strings"
)

// chart shows values over the time of a load.
type chart struct {
	Title  string
	Log    bool // the values have a logarithmic scale, without zeros
	Series []series
}

type series struct {
	Name   string
	Points []point
}

// point is a value at a time, in seconds.
type point struct{ x, y float64 }

// drawing is a chart in units of its picture.
type drawing struct {
	Title      string
	Lines      []polyline
	X, Y       []tick
	Width      float64
	Height     float64
	Left, Foot float64
}

type polyline struct {
	Class, Name, Points string
}

type tick struct {
	At   float64
	Text string
}

// The size of the picture, and the area between the scales.
const (
	chartWidth, chartHeight = 720, 260
	chartLeft, chartRight   = 64, 712
	chartTop, chartFoot     = 10, 228

	pointsMax  = 500 // points of a line: more cannot be distinguished
	coloursMax = 5
)

// draw returns the drawing. ok is false if it would be empty.
func (c chart) draw() (d drawing, ok bool) {
	var right, top float64
	low := math.Inf(1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			right, top = max(right, p.x), max(top, p.y)
			if p.y > 0 {
				low = min(low, p.y)
			}
		}
	}
	if right <= 0 || top <= 0 {
		return d, false
	}
	d = drawing{Title: c.Title, Width: chartWidth, Height: chartHeight, Left: chartLeft, Foot: chartFoot}
	x := func(v float64) float64 { return chartLeft + v/right*(chartRight-chartLeft) }
	y, yTicks := linear(top)
	if c.Log {
		y, yTicks = logarithmic(low, top)
	}
	d.Y = yTicks
	for v, step := 0.0, round125(right/8); v <= right*1.0001; v += step {
		d.X = append(d.X, tick{x(v), fmt.Sprintf("%.4g s", v)})
	}
	for i, s := range c.Series {
		l := polyline{Class: fmt.Sprintf("line%d", i%coloursMax), Name: s.Name}
		var b strings.Builder
		for _, p := range thinOut(s.Points) {
			if p.y > 0 || !c.Log {
				fmt.Fprintf(&b, "%.1f,%.1f ", x(p.x), y(p.y))
			}
		}
		if len(s.Points) == 1 && b.Len() > 0 { // a line needs two points
			fmt.Fprintf(&b, "%.1f,%.1f", x(s.Points[0].x)-dash, y(s.Points[0].y))
		}
		l.Points = strings.TrimSpace(b.String())
		d.Lines = append(d.Lines, l)
	}
	return d, true
}

// dash is the length of the line that shows a single point.
const dash = 6

// linear returns a scale from 0 to a value.
func linear(top float64) (func(float64) float64, []tick) {
	step := round125(top / 5)
	top = math.Ceil(top/step) * step
	y := func(v float64) float64 { return chartFoot - v/top*(chartFoot-chartTop) }
	var ticks []tick
	for v := 0.0; v <= top*1.0001; v += step {
		ticks = append(ticks, tick{y(v), fmt.Sprintf("%.6g", v)})
	}
	return y, ticks
}

// logarithmic returns a scale of powers of ten around two values.
func logarithmic(low, top float64) (func(float64) float64, []tick) {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(top))
	last = max(last, first+1)
	y := func(v float64) float64 {
		return chartFoot - (math.Log10(v)-first)/(last-first)*(chartFoot-chartTop)
	}
	var ticks []tick
	for e := first; e <= last; e++ {
		v := math.Pow(10, e)
		ticks = append(ticks, tick{y(v), fmt.Sprintf("%g", v)})
	}
	return y, ticks
}

// round125 returns the least of 1, 2, 5, 10, 20 … that is not below v.
func round125(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if v <= f*power*1.0001 {
			return f * power
		}
	}
	return 10 * power
}

// thinOut keeps the highest of neighbouring points if there are too many to distinguish.
func thinOut(list []point) []point {
	n := (len(list) + pointsMax - 1) / pointsMax
	if n < 2 {
		return list
	}
	var few []point
	for i, p := range list {
		if i%n == 0 {
			few = append(few, p)
		} else if last := &few[len(few)-1]; p.y > last.y {
			last.y = p.y
		}
	}
	return few
}
