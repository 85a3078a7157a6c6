package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
)

// headroom is left free above the highest point of a panel, as a share of it.
const headroom = 0.06

func (f *figure) goodputPanel() (*plot.Plot, error) {
	p := f.panel("goodput (requests/s)")
	if f.marks {
		f.addPublished(p)
	}
	for _, c := range f.curves {
		bars, err := plotter.NewYErrorBars(intervals(c.rows))
		if err != nil {
			return nil, fmt.Errorf("plot: %w", err)
		}
		bars.LineStyle = draw.LineStyle{Color: c.style.color, Width: 0.8}
		bars.CapWidth = 5
		p.Add(bars)
		if err := c.addTo(p, (*result.Row).Goodput); err != nil {
			return nil, err
		}
	}
	setRange(p, f.xMax)
	return p, nil
}

func (f *figure) failuresPanel() (*plot.Plot, error) {
	p := f.panel("failed attempts (per second)")
	p.X.Label.Text = "load (machines)"
	for _, c := range f.curves {
		if err := c.addTo(p, (*result.Row).Failed); err != nil {
			return nil, err
		}
	}
	setRange(p, f.xMax)
	return p, nil
}

// panel returns an empty one in the figure's style.
func (f *figure) panel(yLabel string) *plot.Plot {
	p := plot.New()
	p.Y.Label.Text = yLabel
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle = textStyle(11, false)
		a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
		a.Label.Padding = 4
		a.Tick.Label.Font = textStyle(10, false).Font
		a.Tick.Label.Color, a.Tick.Color, a.Color = grey, grey, grey
	}
	p.Y.Tick.Marker = wholeTicks{}
	p.X.Tick.Marker = wholeTicks{}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: pale, Width: 0.6}
	p.Add(grid)
	return p
}

// addTo draws the curve's line and points, those of weak levels hollow.
func (c *curve) addTo(p *plot.Plot, y func(*result.Row) float64) error {
	points := make(plotter.XYs, len(c.rows))
	for i := range c.rows {
		points[i] = plotter.XY{X: float64(c.rows[i].Machines), Y: y(&c.rows[i])}
	}
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	line.LineStyle = c.style.line()
	dots.GlyphStyleFunc = func(i int) draw.GlyphStyle {
		if c.rows[i].Weak() {
			return c.style.weakGlyph()
		}
		return c.style.glyph()
	}
	p.Add(line, dots)
	return nil
}

// intervals are the points of a curve with the 95 % intervals of their goodput; no
// bar reaches below zero.
func intervals(rows []result.Row) plotter.YErrorBars {
	var bars plotter.YErrorBars
	for i := range rows {
		r := &rows[i]
		bars.XYs = append(bars.XYs, plotter.XY{X: float64(r.Machines), Y: r.Goodput()})
		errors := struct{ Low, High float64 }{min(r.GoodputCI95, r.Goodput()), r.GoodputCI95}
		bars.YErrors = append(bars.YErrors, errors)
	}
	return bars
}

// addPublished draws the published peak across, and where each curve fell to half
// and to zero, as far as the load was measured.
func (f *figure) addPublished(p *plot.Plot) {
	segment := func(c color.Color, a, b plotter.XY) {
		p.Add(&plotter.Line{XYs: plotter.XYs{a, b}, LineStyle: publishedLine(c)})
	}
	peak := published[protect.Off.String()].peak
	segment(grey, plotter.XY{X: 0, Y: peak}, plotter.XY{X: f.xMax, Y: peak})
	for _, s := range []protect.Setting{protect.Off, protect.On} {
		c, ok := f.colorOf(s.String())
		for _, x := range []float64{published[s.String()].half, published[s.String()].zero} {
			if ok && x <= f.xMax {
				segment(c, plotter.XY{X: x, Y: 0}, plotter.XY{X: x, Y: peak})
			}
		}
	}
}

// colorOf returns the color of the first curve under a protection.
func (f *figure) colorOf(protection string) (color.Color, bool) {
	for _, c := range f.curves {
		if c.rows[0].Protection == protection {
			return c.style.color, true
		}
	}
	return nil, false
}

// setRange starts both axes at zero, and leaves a little room at their ends.
func setRange(p *plot.Plot, xMax float64) {
	p.X.Min, p.X.Max = 0, xMax+0.5
	p.Y.Min, p.Y.Max = 0, max(1, p.Y.Max*(1+headroom))
}

// wholeTicks are six or so at multiples of 1, 2 or 5 times a power of ten, whole
// numbers all, each with its label in full.
type wholeTicks struct{}

// Ticks implements plot.Ticker.
func (wholeTicks) Ticks(low, high float64) []plot.Tick {
	const wanted = 6
	step := max(1, math.Pow(10, math.Floor(math.Log10((high-low)/wanted))))
	for _, factor := range []float64{2, 2.5, 2} { // 1 to 2, 5 and 10
		if (high-low)/step > wanted+1 {
			step *= factor
		}
	}
	var ticks []plot.Tick
	for x := math.Ceil(low/step) * step; x <= high; x += step {
		if x == 0 {
			x = 0 // and not minus zero
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: decimal(x, 0)})
	}
	return ticks
}

// publishedLine is the style of everything published.
func publishedLine(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: 0.7, Dashes: []vg.Length{4, 3}}
}
