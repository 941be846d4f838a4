package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Seven markers beside six colours: 42 lines differ from each other. gonum's own open
// markers are too thin to be told apart where lines go through them.
var markers = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	filled{{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
	filled{{-1.1, -0.8}, {1.1, -0.8}, {0, 1.2}},
	filled{{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}},
	filled{{-1.1, 0.8}, {1.1, 0.8}, {0, -1.2}},
	strokes{{{-1, -1}, {1, 1}}, {{-1, 1}, {1, -1}}},
	strokes{{{0, -1.3}, {0, 1.3}}, {{-1.3, 0}, {1.3, 0}}},
}

func glyph(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colours[i%len(colours)], Radius: 3.5, Shape: markers[i%len(markers)]}
}

// A corner of a marker, in radii from its middle.
type corner struct{ x, y vg.Length }

func (k corner) of(middle vg.Point, radius vg.Length) vg.Point {
	return vg.Point{X: middle.X + k.x*radius, Y: middle.Y + k.y*radius}
}

// filled is the corners of a shape.
type filled []corner

// DrawGlyph implements gonum's GlyphDrawer.
func (f filled) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	corners := make([]vg.Point, len(f))
	for i, k := range f {
		corners[i] = k.of(at, sty.Radius)
	}
	c.FillPolygon(sty.Color, corners)
}

// strokes is lines from end to end.
type strokes [][2]corner

// DrawGlyph implements gonum's GlyphDrawer.
func (s strokes) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	line := draw.LineStyle{Color: sty.Color, Width: 2}
	for _, ends := range s {
		from, to := ends[0].of(at, sty.Radius), ends[1].of(at, sty.Radius)
		c.StrokeLine2(line, from.X, from.Y, to.X, to.Y)
	}
}
