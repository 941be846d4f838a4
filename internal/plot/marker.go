package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// markers are seven shapes. With six colours they distinguish 42 lines. gonum's own open
// markers are too thin to recognise where lines cross them.
var markers = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	filledShape{{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
	filledShape{{-1.1, -0.8}, {1.1, -0.8}, {0, 1.2}},
	filledShape{{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}},
	filledShape{{-1.1, 0.8}, {1.1, 0.8}, {0, -1.2}},
	strokeShape{{{-1, -1}, {1, 1}}, {{-1, 1}, {1, -1}}},
	strokeShape{{{0, -1.3}, {0, 1.3}}, {{-1.3, 0}, {1.3, 0}}},
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
