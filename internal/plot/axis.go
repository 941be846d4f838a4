package plot

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A scale is the part of an axis that is drawn and where its ticks are.
type scale struct {
	min, max float64
	ticks    []plot.Tick
}

const (
	ticksWanted  = 6
	decadeLabels = 8
	powersOfTwo  = 12
)

// newScale chooses a scale that shows all values. values has at least one element.
func newScale(a Axis, values []float64, zero bool) scale {
	low, high := slices.Min(values), slices.Max(values)
	if a.Log {
		return logScale(low, high, values)
	}
	return linearScale(low, high, zero)
}

// linearScale returns a scale from tick to tick if it includes 0, and from the least to the
// greatest value otherwise.
func linearScale(low, high float64, zero bool) scale {
	if zero {
		low, high = min(low, 0), max(high, 0)
	}
	// A range that is tiny compared with its ends has no room for ticks.
	if size := max(math.Abs(low), math.Abs(high)); high-low <= 1e-9*size {
		low, high = low-size/2, high+size/2
	}
	if low == high {
		low, high = low-1, high+1
	}
	step := niceStep((high - low) / ticksWanted)
	if zero {
		low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	}
	s := scale{min: low, max: high}
	for i := math.Ceil(low / step); i*step <= high; i++ {
		s.ticks = append(s.ticks, plot.Tick{Value: i * step, Label: tickLabel(i * step)})
	}
	return s
}

// niceStep returns the least number of 1, 2 or 5 times a power of ten that is not below v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, digit := range []float64{1, 2, 5} {
		if digit*power >= v {
			return digit * power
		}
	}
	return 10 * power
}

func logScale(low, high float64, values []float64) scale {
	if low == high {
		low, high = low/2, high*2
	}
	for _, choice := range []struct {
		ticks  []plot.Tick
		labels int // at least
	}{{twoTicks(low, high, values), 2}, {decadeTicks(low, high), 3}, {digitTicks(low, high), 2}} {
		if countLabels(choice.ticks) >= choice.labels {
			return scale{low, high, choice.ticks}
		}
	}
	return scale{low, high, linearScale(low, high, false).ticks}
}

func countLabels(ticks []plot.Tick) (n int) {
	for _, t := range ticks {
		if t.Label != "" {
			n++
		}
	}
	return n
}

// twoTicks labels powers of two, if all values are powers of two, such as numbers of
// processors.
func twoTicks(low, high float64, values []float64) []plot.Tick {
	for _, v := range values {
		if fraction, _ := math.Frexp(v); fraction != 0.5 || v < 1 || v > 1<<20 {
			return nil
		}
	}
	var ticks []plot.Tick
	every := 1 + int(math.Log2(high/low))/powersOfTwo
	for i, v := 0, math.Exp2(math.Ceil(math.Log2(low))); v <= high; i, v = i+1, 2*v {
		t := plot.Tick{Value: v}
		if i%every == 0 {
			t.Label = tickLabel(v)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// decadeTicks labels powers of ten.
func decadeTicks(low, high float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(low))), int(math.Floor(math.Log10(high)))
	every := 1 + (last-first)/decadeLabels
	var ticks []plot.Tick
	add := func(v float64, label string) {
		if v >= low && v <= high {
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	for n := first; n <= last; n++ {
		if n%every != 0 {
			add(math.Pow10(n), "")
			continue
		}
		add(math.Pow10(n), powerOfTen(n))
		for digit := 2.0; digit < 10 && every == 1; digit++ {
			add(digit*math.Pow10(n), "")
		}
	}
	return ticks
}

// digitTicks labels 1, 2 and 5 times the powers of ten.
func digitTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for n := int(math.Floor(math.Log10(low))); n <= int(math.Floor(math.Log10(high))); n++ {
		for digit := 1.0; digit < 10; digit++ {
			v := digit * math.Pow10(n)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if digit == 1 || digit == 2 || digit == 5 {
				t.Label = tickLabel(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// powerOfTen returns 10ⁿ as people write it. Small powers use the form 1e-6, because fonts may
// lack a raised minus sign.
func powerOfTen(n int) string {
	switch {
	case n < -4:
		return "1e" + strconv.Itoa(n)
	case n < 2:
		return tickLabel(math.Pow10(n))
	}
	return "10" + superscript.Replace(strconv.Itoa(n))
}

var superscript = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// tickDigits suffices for the ticks between any two values that differ in the sixth digit.
const tickDigits = 7

func tickLabel(v float64) string { return Number(v, tickDigits) }

// Number formats v with at most digits significant digits, as charts label their ticks: 0.25,
// 1,000,000, 2·10⁹ or 3e-7.
func Number(v float64, digits int) string {
	size := math.Abs(v)
	if v != 0 && (size < 1e-4 || size >= 1e7) {
		return formatScientific(v, digits)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil || math.IsNaN(rounded) {
		return "?"
	}
	whole, fraction, dotted := strings.Cut(strconv.FormatFloat(math.Abs(rounded), 'f', -1, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		whole += "." + fraction
	}
	if rounded < 0 {
		whole = "−" + whole
	}
	return whole
}

func formatScientific(v float64, digits int) string {
	mantissa, power, found := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e")
	n, err := strconv.Atoi(power)
	if !found || err != nil {
		return "∞"
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	mantissa = strings.Replace(mantissa, "-", "−", 1)
	switch {
	case mantissa == "1":
		return powerOfTen(n)
	case n < 0:
		return mantissa + "e" + strconv.Itoa(n)
	}
	return mantissa + "·" + powerOfTen(n)
}

// markers are seven shapes. Further lines repeat them on dashed lines, so that 21 lines differ
// without their colours. gonum's own open markers are too thin to recognise where lines cross
// them.
var markers = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	filledShape{{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
	filledShape{{-1.1, -0.8}, {1.1, -0.8}, {0, 1.2}},
	filledShape{{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}},
	filledShape{{-1.1, 0.8}, {1.1, 0.8}, {0, -1.2}},
	strokeShape{{{-1, -1}, {1, 1}}, {{-1, 1}, {1, -1}}},
	strokeShape{{{0, -1.3}, {0, 1.3}}, {{-1.3, 0}, {1.3, 0}}},
}

// dashes returns the dashes of a line: none for the first use of each marker.
func dashes(i int) []vg.Length {
	return [][]vg.Length{nil, {7, 3}, {2, 2}}[i/len(markers)%3]
}

func glyph(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colours[i%len(colours)], Radius: 3.5, Shape: markers[i%len(markers)]}
}

// A corner is a corner of a marker, in radii from its middle.
type corner struct{ x, y vg.Length }

func (k corner) at(middle vg.Point, radius vg.Length) vg.Point {
	return vg.Point{X: middle.X + k.x*radius, Y: middle.Y + k.y*radius}
}

// A filled shape is given by its corners.
type filledShape []corner

// DrawGlyph implements gonum's GlyphDrawer.
func (f filledShape) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	corners := make([]vg.Point, len(f))
	for i, k := range f {
		corners[i] = k.at(at, sty.Radius)
	}
	c.FillPolygon(sty.Color, corners)
}

// A strokeShape consists of straight strokes.
type strokeShape [][2]corner

// DrawGlyph implements gonum's GlyphDrawer.
func (s strokeShape) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	line := draw.LineStyle{Color: sty.Color, Width: 2}
	for _, ends := range s {
		from, to := ends[0].at(at, sty.Radius), ends[1].at(at, sty.Radius)
		c.StrokeLine2(line, from.X, from.Y, to.X, to.Y)
	}
}

// A series draws one line, cloud or row of bars.
type series struct {
	form   Form
	points []Point
	line   draw.LineStyle
	glyph  draw.GlyphStyle
}

func newSeries(i int, l Line) *series {
	line := draw.LineStyle{Color: colours[i%len(colours)], Width: 1.75, Dashes: dashes(i)}
	s := &series{form: l.Form, points: l.Points, line: line, glyph: glyph(i)}
	switch l.Form {
	case Cloud:
		s.glyph.Radius, s.glyph.Shape = dot, draw.CircleGlyph{}
	case Rule:
		s.line = draw.LineStyle{Color: s.line.Color, Width: 1.5, Dashes: []vg.Length{5, 3}}
	}
	return s
}

// dot is the radius of a dot in a cloud. It is small enough that the shape of 2,000 dots
// shows.
const dot = 1.8 * vg.Length(1)

// Plot implements gonum's Plotter.
func (s *series) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if s.form == Bars {
		bottom := c.Min.Y // a logarithmic axis has no 0
		if p.Y.Min <= 0 {
			bottom = y(0)
		}
		s.bars(c, x, y, bottom)
		return
	}
	var path []vg.Point
	for _, pt := range s.points {
		path = append(path, vg.Point{X: x(pt.X), Y: y(pt.Y)})
		if pt.HasInterval() {
			s.interval(c, x(pt.X), y(max(pt.Low, p.Y.Min)), y(pt.High))
		}
	}
	if s.form != Cloud {
		c.StrokeLines(s.line, path)
	}
	if s.form != Rule {
		for _, at := range path {
			c.DrawGlyphNoClip(s.glyph, at)
		}
	}
}

// interval draws the interval of a point. On a logarithmic axis low may lie below the visible
// range.
func (s *series) interval(c draw.Canvas, x, low, high vg.Length) {
	thin := s.line
	thin.Width, thin.Dashes = 0.8, nil
	c.StrokeLine2(thin, x, low, x, high)
	c.StrokeLine2(thin, x-3, low, x+3, low)
	c.StrokeLine2(thin, x-3, high, x+3, high)
}

func (s *series) bars(c draw.Canvas, x, y func(float64) vg.Length, bottom vg.Length) {
	width := barWidthMax
	for i := 1; i < len(s.points); i++ {
		width = min(width, x(s.points[i].X)-x(s.points[i-1].X))
	}
	width = max(width-1, 1)
	for _, pt := range s.points {
		fillBox(c, s.line.Color, x(pt.X)-width/2, bottom, x(pt.X)+width/2, y(pt.Y))
	}
}

const barWidthMax = 40 * vg.Length(1)

func fillBox(c draw.Canvas, col color.Color, left, bottom, right, top vg.Length) {
	c.FillPolygon(col, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
}

// GlyphBoxes implements gonum's GlyphBoxer. It reserves room for markers at the edge.
func (s *series) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	boxes := make([]plot.GlyphBox, len(s.points))
	for i, pt := range s.points {
		boxes[i] = plot.GlyphBox{X: p.X.Norm(pt.X), Y: p.Y.Norm(pt.Y), Rectangle: s.glyph.Rectangle()}
	}
	return boxes
}

// sampleWidth is the width of the piece of a line in front of its name in the legend.
const sampleWidth = 26 * vg.Length(1)

// sample draws the line's piece in the legend.
func (s *series) sample(c draw.Canvas, x, y vg.Length) {
	switch s.form {
	case Bars:
		fillBox(c, s.line.Color, x+4, y-5, x+sampleWidth-10, y+5)
		return
	case Joined, Rule:
		c.StrokeLine2(s.line, x, y, x+sampleWidth-6, y)
	}
	if s.form != Rule {
		c.DrawGlyphNoClip(s.glyph, vg.Point{X: x + (sampleWidth-6)/2, Y: y})
	}
}
