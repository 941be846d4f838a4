package plot

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// namesScale returns a scale with a place for each name, the first one at the top.
func namesScale(names []string) scale {
	s := scale{min: 0.5 - float64(len(names)), max: 0.5}
	for i, name := range names {
		s.ticks = append(s.ticks, plot.Tick{Value: -float64(i), Label: name})
	}
	return s
}

// nameRoom returns the distance from names to the axis. Names that are drawn in wider fonts than
// ours end beside the bars, not on them.
func nameRoom(names []string) vg.Length {
	widest := vg.Length(0)
	for _, name := range names {
		widest = max(widest, style(11).Width(name))
	}
	return 3 + 0.2*widest
}

// namedBars draws bars from left to right, with their intervals and values.
type namedBars struct {
	axis   Axis
	points []Point
}

const (
	barHeight = 14 * vg.Length(1)
	valueGap  = 5 * vg.Length(1) // between a bar and its value
)

// Plot implements gonum's Plotter.
func (b *namedBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	left := c.Min.X // a logarithmic axis has no 0
	if p.X.Min <= 0 {
		left = x(0)
	}
	thin := draw.LineStyle{Color: ink, Width: 1}
	for _, pt := range b.points {
		middle, end := y(-pt.X), x(pt.Y)
		fill := colours[0]
		if slices.Contains(b.axis.Muted, b.axis.Names[int(pt.X)]) {
			fill = mutedBar
		}
		fillBox(c, fill, left, middle-barHeight/2, end, middle+barHeight/2)
		if pt.HasInterval() {
			low, high := x(max(pt.Low, p.X.Min)), x(pt.High)
			c.StrokeLine2(thin, low, middle, high, middle)
			c.StrokeLine2(thin, low, middle-3, low, middle+3)
			c.StrokeLine2(thin, high, middle-3, high, middle+3)
			end = max(end, high)
		}
		c.FillText(style(11), vg.Point{X: end + valueGap, Y: middle - 4}, valueText(pt))
	}
}

func valueText(p Point) string { return Number(p.Y, 3) }

// GlyphBoxes implements gonum's GlyphBoxer. It reserves room for the values.
func (b *namedBars) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	boxes := make([]plot.GlyphBox, len(b.points))
	for i, pt := range b.points {
		room := vg.Rectangle{Max: vg.Point{X: valueGap + 1.15*style(11).Width(valueText(pt))}}
		boxes[i] = plot.GlyphBox{X: p.X.Norm(max(pt.Y, pt.High)), Y: p.Y.Norm(-pt.X), Rectangle: room}
	}
	return boxes
}
