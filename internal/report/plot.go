package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/ssmctl/ssmctl/internal/result"
)

// The picture's size, and the resolution of a PNG: 1440 x 1200 pixels.
const (
	plotWidth  = 9.6 * vg.Inch
	plotHeight = 8 * vg.Inch
	plotDPI    = 150
)

// The formats of a plot, by the extension of its file's name.
const (
	svgExt = ".svg"
	pngExt = ".png"
)

// CheckPlotName reports whether Plot knows the format that a file's name asks for. The
// error is an *Error.
func CheckPlotName(name string) error {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case svgExt, pngExt:
		return nil
	case "":
		return &Error{Problem: fmt.Sprintf("%s: no extension to tell the format by", name), Hint: "end its name in .svg or .png"}
	default:
		return &Error{Problem: fmt.Sprintf("%s: no plots in the format %s", name, ext), Hint: "end its name in .svg or .png"}
	}
}

// Plot draws goodput and failures against load, a line for each curve; of one run with
// faults goodput by time, while its levels are few. The extension of
// name gives the format; name is not opened. Where every run is of the calibrated
// profile, the published marks stand in it as thin dashed lines. Nothing to draw, or an
// unknown extension, is an *Error.
func Plot(w io.Writer, name string, runs []*result.Run) error {
	if err := CheckPlotName(name); err != nil {
		return err
	}
	f, err := newFigure(runs)
	if err != nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(name), pngExt) {
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(plotWidth, plotHeight), vgimg.UseDPI(plotDPI))}
		if err := f.draw(draw.New(c)); err != nil {
			return err
		}
		_, err = c.WriteTo(w)
		return err
	}
	text, err := f.svg()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// svg renders the figure as an SVG document.
func (f *figure) svg() ([]byte, error) {
	c := vgsvg.New(plotWidth, plotHeight)
	if err := f.draw(draw.New(c)); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if _, err := c.WriteTo(&buf); err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	// Liberation Sans has Arial's metrics; who has neither still gets a sans-serif.
	return bytes.ReplaceAll(buf.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), nil
}

// figure is what is drawn: the same curves in two panels, or panels by time.
type figure struct {
	title    string
	subtitle string
	curves   []curve
	marks    bool // whether the published marks belong in it
	xMax     float64
	// Of a run with faults, drawn by time instead; nil in any other.
	timelines []timeline
}

// curve is one line of the figure.
type curve struct {
	name  string
	style curveStyle
	rows  []result.Row
}

func newFigure(runs []*result.Run) (*figure, error) {
	rows, err := allRows(runs)
	if err != nil {
		return nil, err
	}
	names, groups := result.Curves(rows)
	if len(names) == 0 {
		return nil, &Error{
			Problem: "nothing to plot: the protection changed within every level",
			Hint:    "measure with --protection off,on",
		}
	}
	f := &figure{title: "Goodput and failures against load", subtitle: subtitle(runs), marks: true}
	for _, r := range runs {
		f.marks = f.marks && r.Manifest.Profile.Name == calibrated
	}
	palette := newPalette()
	for i, name := range names {
		f.curves = append(f.curves, curve{name: curveName(name, len(runs) > 1), style: palette.style(name), rows: groups[i]})
		f.xMax = max(f.xMax, float64(groups[i][len(groups[i])-1].Machines))
	}
	return f, f.addTimelines(runs)
}

// subtitle says how the runs were made, as far as they agree.
func subtitle(runs []*result.Run) string {
	m := &runs[0].Manifest
	s := fmt.Sprintf("%s, profile %s (%s), %s, %s a machine, time-out %s", m.Mode, m.Profile.Name,
		m.Profile.Processor.Kind, plural(m.Plan.Bricks, "brick"), plural(m.Plan.Threads, "user"), duration(m.Plan.Timeout))
	for _, r := range runs[1:] {
		n := &r.Manifest
		if n.Mode != m.Mode || n.Profile.Name != m.Profile.Name || n.Plan.Bricks != m.Plan.Bricks ||
			n.Plan.Threads != m.Plan.Threads || n.Plan.Timeout != m.Plan.Timeout {
			return plural(len(runs), "run") + " of different settings"
		}
	}
	if len(runs) > 1 {
		return plural(len(runs), "run") + ": " + s
	}
	return m.Run + ": " + s
}

func curveName(c result.Curve, several bool) string {
	name := "protection " + c.Protection
	if windowed(c.Protection) {
		name += ", " + c.Policy
	}
	if several {
		name += " (" + c.Run + ")"
	}
	return name
}

// draw fills a canvas: title, legend, and below them the panels.
func (f *figure) draw(c draw.Canvas) error {
	c.SetColor(white)
	c.Fill(c.Path())
	const margin = 14
	c = draw.Crop(c, margin, -margin, margin, -margin)
	c = drawTitle(c, f.title, f.subtitle)
	c = drawLegend(c, f.legend())

	panels, err := f.panels()
	if err != nil {
		return err
	}
	for i, row := range plot.Align(panels, draw.Tiles{Rows: len(panels), Cols: 1, PadY: 10, PadRight: 8}, c) {
		panels[i][0].Draw(row[0])
	}
	return nil
}

// panels are those of the figure, from above.
func (f *figure) panels() ([][]*plot.Plot, error) {
	if len(f.timelines) > 0 {
		return f.timePanels()
	}
	goodput, err := f.goodputPanel()
	if err != nil {
		return nil, err
	}
	failures, err := f.failuresPanel()
	return [][]*plot.Plot{{goodput}, {failures}}, err
}
