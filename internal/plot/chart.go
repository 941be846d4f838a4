// Package plot draws measurements as SVG, over linear or logarithmic axes: as lines with an
// interval for each point, as clouds of points, or as bars. Bars may stand for things with names
// instead of numbers. Equal charts give equal bytes.
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
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// SVG writes the chart as one svg element, which is also a complete file. It fails if the chart
// has more than [Chart.Drawable] returns.
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
	if err := c.check(); err != nil {
		return picture{}, err
	}
	lines := make([]Line, len(c.Lines))
	for i, l := range c.Lines {
		points := slices.SortedStableFunc(slices.Values(l.Points), func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		lines[i] = Line{Name: cleanLabel(l.Name), Form: l.Form, Muted: l.Muted, Points: points}
	}
	// Muted lines are drawn first, so that they cover no other.
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(mutedFirst(a), mutedFirst(b)) })
	c.Title, c.X.Label, c.Y.Label, c.Lines = cleanLabel(c.Title), cleanLabel(c.X.Label), cleanLabel(c.Y.Label), lines
	c.X.Names, c.X.Muted = cleanLabels(c.X.Names), cleanLabels(c.X.Muted)
	return newPicture(c), nil
}

func cleanLabels(labels []string) []string {
	labels = slices.Clone(labels) // nil stays nil
	for i, label := range labels {
		labels[i] = cleanLabel(label)
	}
	return labels
}

func mutedFirst(l Line) int {
	if l.Muted {
		return 0
	}
	return 1
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

// The size of pictures in points, without the legend. On a telephone, 420 points wide, the texts
// of a wider picture would be too small to read.
const (
	width      = 480 * vg.Length(1)
	plotHeight = 300 * vg.Length(1)
)

// A picture is a checked chart with its layout. x and y are the axes of the picture: if the
// chart has names, its X axis is the picture's y.
type picture struct {
	chart Chart
	x, y  scale
	rows  [][]entry // of the legend
}

const (
	margin    = 10 * vg.Length(1)
	rowHeight = 18 * vg.Length(1)

	nameHeight   = 22 * vg.Length(1) // of a bar with a name, and its distance to the next
	valuesHeight = 44 * vg.Length(1) // of the axis below such bars
	gap          = 14 * vg.Length(1) // the space after a name
)

// entryWidth returns the width of a legend entry. It leaves room for fonts that are wider than
// ours.
func entryWidth(name string) vg.Length { return sampleWidth + gap + 1.15*style(11).Width(name) }

func newPicture(c Chart) picture {
	var xs, ys []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			if !p.HasInterval() || l.Muted {
				continue
			}
			ys = append(ys, p.High)
			if p.Low > 0 || !c.Y.Log {
				ys = append(ys, p.Low)
			}
		}
	}
	if c.X.Names != nil {
		return picture{c, newScale(c.Y, ys, true, true), namesScale(c.X.Names), nil}
	}
	bars := slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Form == Bars })
	return picture{c, newScale(c.X, xs, false, false), newScale(c.Y, ys, true, bars), legendRows(c.Lines)}
}

// An entry is one entry of the legend.
type entry struct {
	name   string
	series *series
}

// newEntries returns the entries of the lines. All muted lines share the last entry.
func newEntries(lines []Line) (entries []entry) {
	muted := 0
	for i, l := range lines {
		if l.Muted {
			muted++
			continue
		}
		entries = append(entries, entry{l.Name, newSeries(i-muted, l)})
	}
	switch muted {
	case 0:
	case 1:
		entries = append(entries, entry{lines[0].Name, newSeries(0, lines[0])})
	default:
		entries = append(entries, entry{fmt.Sprintf("%d others", muted), newSeries(0, lines[0])})
	}
	return entries
}

// legendRows breaks the legend into rows that fit the picture. A single line without a name
// needs no legend.
func legendRows(lines []Line) (rows [][]entry) {
	if len(lines) == 1 && lines[0].Name == "" {
		return nil
	}
	left := vg.Length(0)
	for _, e := range newEntries(lines) {
		need := entryWidth(e.name)
		if len(rows) == 0 || need > left {
			rows, left = append(rows, nil), width-2*margin
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		left -= need
	}
	return rows
}

func (p picture) height() vg.Length {
	top := vg.Length(len(p.rows)) * rowHeight
	if p.chart.Title != "" {
		top += 2 * margin
	}
	if names := len(p.chart.X.Names); names > 0 {
		return vg.Length(names)*nameHeight + valuesHeight + top + 2*margin
	}
	if p.chart.Y.Label != "" {
		top += rowHeight
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
	c = p.drawLabels(c)
	c.Max.Y -= margin / 2
	p.plot().Draw(c)
}

func (p picture) drawLegend(c draw.Canvas, row []entry) {
	x, y := c.Min.X, c.Max.Y-rowHeight/2
	for _, e := range row {
		e.series.sample(c, x, y)
		c.FillText(style(11), vg.Point{X: x + sampleWidth, Y: y - 4}, e.name)
		x += entryWidth(e.name)
	}
}

// drawLabels draws the labels of the axes, and returns what is left of the canvas. gonum would reserve room for a
// label where the middle of the values is on a logarithmic axis, and so make the plot smaller.
func (p picture) drawLabels(c draw.Canvas) draw.Canvas {
	above, below := p.chart.Y.Label, p.chart.X.Label
	if p.chart.X.Names != nil {
		above, below = "", p.chart.Y.Label
	}
	if above != "" { // not beside its axis, where a long label would not fit
		c.FillText(style(12), vg.Point{X: c.Min.X, Y: c.Max.Y - rowHeight + margin/2}, above)
		c.Max.Y -= rowHeight
	}
	if below != "" {
		centred := style(12)
		centred.XAlign = draw.XCenter
		c.FillText(centred, vg.Point{X: c.Center().X, Y: c.Min.Y + 1}, below)
		c.Min.Y += rowHeight
	}
	return c
}

func (p picture) plot() *plot.Plot {
	pl := plot.New()
	pl.BackgroundColor = nil
	lines := plotter.NewGrid()
	lines.Horizontal.Color, lines.Vertical.Color = grid, grid
	lines.Horizontal.Width, lines.Vertical.Width = 0.5, 0.5
	pl.Add(lines)
	if p.chart.X.Names != nil {
		lines.Horizontal.Color = nil
		pl.Add(&namedBars{p.chart.X, p.chart.Lines[0].Points})
		styleAxis(&pl.X, p.chart.Y.Log, p.x)
		styleAxis(&pl.Y, false, p.y)
		pl.Y.Width, pl.Y.Tick.Width = 0, 0 // the line at 0 is part of the grid
		pl.Y.Padding = nameRoom(p.chart.X.Names)
		return pl
	}
	muted := 0 // these come first
	for i, l := range p.chart.Lines {
		if l.Muted {
			muted++
		}
		pl.Add(newSeries(max(0, i-muted), l))
	}
	styleAxis(&pl.X, p.chart.X.Log, p.x)
	styleAxis(&pl.Y, p.chart.Y.Log, p.y)
	pl.Y.Padding = 6 // keep the first points off the axis
	return pl
}

func styleAxis(to *plot.Axis, log bool, s scale) {
	to.Min, to.Max = s.min, s.max
	to.Tick.Marker = plot.ConstantTicks(s.ticks)
	if log {
		to.Scale = plot.LogScale{}
	}
	to.Padding = 0
	to.Color, to.Tick.Color = ink, ink
	to.Tick.Length = 5
	to.Tick.Label.Color, to.Tick.Label.Font = ink, face(11)
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
