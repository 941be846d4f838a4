package plot

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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

func lineStyle(i int) draw.LineStyle {
	return draw.LineStyle{Color: colours[i%len(colours)], Width: 1.75}
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
