package plot

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
	muted  bool
	points []Point
	line   draw.LineStyle
	glyph  draw.GlyphStyle
}

func newSeries(i int, l Line) *series {
	dashes := [][]vg.Length{nil, {7, 3}, {2, 2}}[i/len(markers)%3] // none for the first use of each marker
	line := draw.LineStyle{Color: colours[i%len(colours)], Width: 1.75, Dashes: dashes}
	s := &series{form: l.Form, muted: l.Muted, points: l.Points, line: line, glyph: draw.GlyphStyle{Color: line.Color, Radius: 3.5, Shape: markers[i%len(markers)]}}
	if l.Muted {
		s.line, s.glyph = draw.LineStyle{Color: muted, Width: 0.9}, draw.GlyphStyle{Color: muted, Radius: 1.2, Shape: draw.CircleGlyph{}}
	}
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
		if pt.HasInterval() && !s.muted {
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

var (
	ink  = color.RGBA{0x33, 0x33, 0x33, 0xFF}
	grid = color.RGBA{0xE2, 0xE2, 0xE2, 0xFF}

	// Lines and bars that are not highlighted.
	muted    = color.RGBA{0xA8, 0xA8, 0xA8, 0xFF}
	mutedBar = color.RGBA{0xB8, 0xB8, 0xB8, 0xFF}
)

// colours are those of Okabe and Ito, which colour-blind readers can distinguish. Their yellow
// is left out because it is too light for a line, and black because it vanishes on dark pages.
var colours = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF},
	{0xCC, 0x79, 0xA7, 0xFF}, {0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF},
}

func face(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func style(size vg.Length) text.Style {
	return text.Style{Color: ink, Font: face(size), Handler: plot.DefaultTextHandler}
}
