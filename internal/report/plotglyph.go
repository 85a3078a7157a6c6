package report

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// polygon is a filled regular polygon that stands on a side or, if there are an even
// number of them, on a corner.
type polygon struct {
	corners int
	down    bool // upside down
}

// DrawGlyph implements draw.GlyphDrawer.
func (g polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := 1.25 * float64(sty.Radius) // as large to the eye as a circle
	if g.down {
		r = -r
	}
	var p vg.Path
	for i := range g.corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(g.corners))
		corner := vg.Point{X: pt.X + vg.Length(r*sin), Y: pt.Y + vg.Length(r*cos)}
		if i == 0 {
			p.Move(corner)
			continue
		}
		p.Line(corner)
	}
	p.Close()
	c.Fill(p)
}

// hollow is the outline of a filled shape; what lies behind it does not show through.
type hollow struct{ shape draw.GlyphDrawer }

// DrawGlyph implements draw.GlyphDrawer.
func (g hollow) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	const inner = 0.6 // of the radius
	g.shape.DrawGlyph(c, sty, pt)
	c.SetColor(white)
	sty.Color, sty.Radius = white, inner*sty.Radius
	g.shape.DrawGlyph(c, sty, pt)
	c.SetColor(ink)
}
