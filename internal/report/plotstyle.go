package report

import (
	"image/color"
	"slices"

	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
)

var (
	white = color.RGBA{R: 255, G: 255, B: 255, A: 255}
	ink   = color.RGBA{R: 34, G: 34, B: 34, A: 255}
	grey  = color.RGBA{R: 100, G: 100, B: 100, A: 255}
	pale  = color.RGBA{R: 225, G: 225, B: 225, A: 255}

	shadow = color.RGBA{R: 242, G: 236, B: 218, A: 255} // of faults, paler than any line
)

// The colors are those of Okabe and Ito (2008), which people with any kind of color
// vision can tell apart. Vermilion is kept for curves without protection.
var (
	unprotected = color.RGBA{R: 213, G: 94, B: 0, A: 255}
	protected   = []color.RGBA{
		{R: 0, G: 114, B: 178, A: 255},   // blue
		{R: 0, G: 158, B: 115, A: 255},   // green
		{R: 204, G: 121, B: 167, A: 255}, // purple
		{R: 86, G: 180, B: 233, A: 255},  // sky
		{R: 230, G: 159, B: 0, A: 255},   // orange
	}
	// All are filled: hollow is what a weak level is.
	shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, polygon{corners: 4}, polygon{corners: 3, down: true}}
)

// curveStyle tells one curve from the others, by color and by shape.
type curveStyle struct {
	color  color.Color
	shape  draw.GlyphDrawer
	dashes []vg.Length
}

func (s curveStyle) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: 1.6, Dashes: s.dashes}
}

func (s curveStyle) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color, Shape: s.shape, Radius: 2.8}
}

// weakGlyph is the point of a level that a verdict on it failed.
func (s curveStyle) weakGlyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color, Shape: hollow{s.shape}, Radius: 3.8}
}

// palette hands out styles in the order of the curves.
type palette struct{ curves, off, on int }

func newPalette() *palette { return &palette{} }

func (p *palette) style(c result.Curve) curveStyle {
	s := curveStyle{shape: shapes[p.curves%len(shapes)]}
	p.curves++
	var round int // how often the color was used before
	if c.Protection == protect.Off.String() {
		s.color, round = unprotected, p.off
		p.off++
	} else {
		s.color, round = protected[p.on%len(protected)], p.on/len(protected)
		p.on++
	}
	if round > 0 {
		s.dashes = []vg.Length{vg.Length(6 / round), 2}
	}
	return s
}

func textStyle(points float64, bold bool) draw.TextStyle {
	s := plot.New().Title.TextStyle
	s.Font.Typeface, s.Font.Variant, s.Font.Size = "Liberation", "Sans", vg.Length(points)
	if bold {
		s.Font.Weight = font.WeightBold
	}
	s.Color, s.XAlign, s.YAlign = ink, draw.XLeft, draw.YTop
	return s
}

// drawTitle writes two lines at the top and returns the canvas below them.
func drawTitle(c draw.Canvas, title, subtitle string) draw.Canvas {
	big, small := textStyle(15, true), textStyle(10, false)
	small.Color = grey
	c.FillText(big, vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
	c.FillText(small, vg.Point{X: c.Min.X, Y: c.Max.Y - 21}, subtitle)
	return draw.Crop(c, 0, 0, 0, -42)
}

// weakEntry explains the hollow points.
const weakEntry = "not steady, or load side not to be believed"

func weak(r result.Row) bool { return r.Weak() }

// entry is one item of the legend.
type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

func (f *figure) legend() []entry {
	var entries []entry
	for _, c := range f.curves {
		thumbs := []plot.Thumbnailer{&plotter.Line{LineStyle: c.style.line()}}
		if f.timelines == nil {
			thumbs = append(thumbs, &plotter.Scatter{GlyphStyle: c.style.glyph()})
		}
		entries = append(entries, entry{c.name, thumbs})
	}
	if f.timelines != nil {
		return entries
	}
	if slices.ContainsFunc(f.curves, func(c curve) bool { return slices.ContainsFunc(c.rows, weak) }) {
		glyph := curveStyle{color: grey, shape: draw.CircleGlyph{}}.weakGlyph()
		entries = append(entries, entry{weakEntry, []plot.Thumbnailer{&plotter.Scatter{GlyphStyle: glyph}}})
	}
	if f.marks {
		line := &plotter.Line{LineStyle: publishedLine(grey)}
		entries = append(entries, entry{"published: peak, half, zero", []plot.Thumbnailer{line}})
	}
	return entries
}

// drawLegend writes entries side by side, in as many lines as they need, and returns
// the canvas below them. It stands outside of the panels, so it hides no data.
func drawLegend(c draw.Canvas, entries []entry) draw.Canvas {
	const (
		gap    = 18 // between entries
		height = 16 // of a line
	)
	x := c.Min.X
	for _, e := range entries {
		l := plot.NewLegend()
		l.TextStyle = textStyle(10.5, false)
		l.TextStyle.YAlign = draw.YBottom
		l.Left, l.Top, l.ThumbnailWidth = true, true, 26
		l.Add(e.name, e.thumbs...)
		width := l.ThumbnailWidth + l.TextStyle.Rectangle("  "+e.name).Max.X
		if x > c.Min.X && x+width > c.Max.X {
			x = c.Min.X
			c = draw.Crop(c, 0, 0, 0, -height)
		}
		l.Draw(draw.Crop(c, x-c.Min.X, 0, 0, 0))
		x += width + gap
	}
	return draw.Crop(c, 0, 0, 0, -height-10)
}
