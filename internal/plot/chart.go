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
	"html"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
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

var (
	ink  = color.RGBA{0x33, 0x33, 0x33, 0xFF}
	grid = color.RGBA{0xE2, 0xE2, 0xE2, 0xFF}
)

// colours are those of Okabe and Ito, which colour-blind readers can distinguish. Their yellow
// is left out because it is too light for a line, and black because it vanishes on dark pages.
var colours = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF},
	{0xCC, 0x79, 0xA7, 0xFF}, {0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF},
}

// A picture is a checked chart with its layout.
type picture struct {
	chart Chart
	x, y  scale
	rows  [][]int // the lines in each row of the legend
}

const (
	margin    = 10 * vg.Length(1)
	rowHeight = 18 * vg.Length(1)
	sample    = 26 * vg.Length(1) // the piece of line in front of a name
	gap       = 14 * vg.Length(1) // the space after a name
)

// entryWidth returns the width of a legend entry. It leaves room for fonts that are wider than
// ours.
func entryWidth(name string) vg.Length { return sample + gap + 1.15*style(11).Width(name) }

func newPicture(c Chart) picture {
	var xs, ys []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			if !p.HasInterval() {
				continue
			}
			ys = append(ys, p.High)
			if p.Low > 0 || !c.Y.Log {
				ys = append(ys, p.Low)
			}
		}
	}
	return picture{c, newScale(c.X, xs, false), newScale(c.Y, ys, true), legendRows(c.Lines)}
}

// legendRows breaks the legend into rows that fit the picture. A single line without a name
// needs no legend.
func legendRows(lines []Line) (rows [][]int) {
	if len(lines) == 1 && lines[0].Name == "" {
		return nil
	}
	left := vg.Length(0)
	for i, l := range lines {
		need := entryWidth(l.Name)
		if len(rows) == 0 || need > left {
			rows, left = append(rows, nil), width-2*margin
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], i)
		left -= need
	}
	return rows
}

func (p picture) height() vg.Length {
	top := vg.Length(len(p.rows)) * rowHeight
	if p.chart.Title != "" {
		top += 2 * margin
	}
	return plotHeight + top + 2*margin
}

func (p picture) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	if p.chart.Title != "" {
		c.FillText(style(14), vg.Point{X: c.Min.X, Y: c.Max.Y - margin}, p.chart.Title)
		c.Max.Y -= 2 * margin
	}
	for _, row := range p.rows {
		p.drawLegend(c, row)
		c.Max.Y -= rowHeight
	}
	c.Max.Y -= margin / 2
	p.plot().Draw(c)
}

func (p picture) drawLegend(c draw.Canvas, row []int) {
	x, y := c.Min.X, c.Max.Y-rowHeight/2
	for _, i := range row {
		newSeries(i, p.chart.Lines[i]).sample(c, x, y)
		name := p.chart.Lines[i].Name
		c.FillText(style(11), vg.Point{X: x + sample, Y: y - 4}, name)
		x += entryWidth(name)
	}
}

func (p picture) plot() *plot.Plot {
	pl := plot.New()
	pl.BackgroundColor = nil
	lines := plotter.NewGrid()
	lines.Horizontal.Color, lines.Vertical.Color = grid, grid
	lines.Horizontal.Width, lines.Vertical.Width = 0.5, 0.5
	pl.Add(lines)
	for i, l := range p.chart.Lines {
		pl.Add(newSeries(i, l))
	}
	styleAxis(&pl.X, p.chart.X, p.x)
	styleAxis(&pl.Y, p.chart.Y, p.y)
	pl.Y.Padding = 6 // keep the first points off the axis
	return pl
}

func styleAxis(to *plot.Axis, a Axis, s scale) {
	to.Min, to.Max = s.min, s.max
	to.Tick.Marker = plot.ConstantTicks(s.ticks)
	if a.Log {
		to.Scale = plot.LogScale{}
	}
	to.Padding = 0
	to.Color, to.Tick.Color = ink, ink
	to.Tick.Length = 5
	to.Tick.Label.Color, to.Label.TextStyle.Color = ink, ink
	to.Tick.Label.Font, to.Label.TextStyle.Font = face(11), face(12)
	to.Label.Text = a.Label
	to.Label.Padding = 4
}

func face(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func style(size vg.Length) text.Style {
	return text.Style{Color: ink, Font: face(size), Handler: plot.DefaultTextHandler}
}

// darkStyle adapts a chart to dark pages. Pages that contain a chart may set
// --chart-background. Only !important overrides a style attribute.
const darkStyle = `<style>@media screen and (prefers-color-scheme:dark){` +
	`svg.chart text{fill:#d8dade!important}` +
	`svg.chart [style*="fill:#FFFFFF"]{fill:var(--chart-background,#16181d)!important}` +
	`svg.chart [style*="stroke:#333333"]{stroke:#9aa0a6!important}` +
	`svg.chart [style*="stroke:#E2E2E2"]{stroke:#3a3f47!important}` +
	`svg.chart [style*="stroke:#0072B2"]{stroke:#3b9fe0!important}` +
	`svg.chart [style*="fill:#0072B2"]{fill:#3b9fe0!important}}</style>`

// restyle replaces the opening of the drawing. The new one scales with its container, has a
// label for screen readers, colours for dark pages, and fonts that every system has. Texts
// cannot match a replacement, because their quotes are escaped.
func restyle(svg, title string, height vg.Length) string {
	_, drawing, _ := strings.Cut(svg, "<g ")
	drawing = strings.ReplaceAll(drawing, `style="font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;`,
		`style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`)
	return fmt.Sprintf(`<svg class="chart" role="img" aria-label="%s" xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g">`+"\n",
		html.EscapeString(title), width.Points(), height.Points(), width.Points(), height.Points()) +
		darkStyle + "\n<g " + drawing
}
