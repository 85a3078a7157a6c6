package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// maxTimelines is how many a figure has room for. A run with faults in more levels than that is
// drawn by load, like any other.
const maxTimelines = 4

// timeline is one load of a run with faults: a line for each row, goodput by second.
type timeline struct {
	machines int
	lines    []timeLine
	spans    []result.Span
}

type timeLine struct {
	style   curveStyle
	seconds []result.Second
}

// addTimelines turns a figure of one run with faults into one by time, if they fit.
func (f *figure) addTimelines(runs []*result.Run) error {
	if len(runs) != 1 {
		return nil
	}
	faults, err := faultRows(runs[0])
	if err != nil || len(faults) == 0 {
		return err
	}
	levels := levelSeconds(runs[0])
	var all []timeline
	for i := range runs[0].Rows {
		row := &runs[0].Rows[i]
		k := slices.IndexFunc(f.curves, func(c curve) bool { return c.rows[0].Protection == row.Protection && c.rows[0].Policy == row.Policy })
		if k < 0 {
			continue // its protection changed within it
		}
		if len(all) == 0 || all[len(all)-1].machines != row.Machines {
			all = append(all, timeline{machines: row.Machines})
		}
		t := &all[len(all)-1]
		t.lines = append(t.lines, timeLine{f.curves[k].style, levels[i]})
	}
	if len(all) > maxTimelines {
		return nil
	}
	for _, r := range faults[:len(faults)/len(runs[0].Rows)] {
		for i := range all {
			all[i].spans = append(all[i].spans, r.span)
		}
	}
	f.title, f.timelines, f.marks = "Goodput over time, faults shaded", all, false
	return nil
}

// timePanels has one panel for each load, the first above.
func (f *figure) timePanels() ([][]*plot.Plot, error) {
	var panels [][]*plot.Plot
	for i := range f.timelines {
		t := &f.timelines[i]
		p := f.panel(fmt.Sprintf("goodput of %s (/s)", plural(t.machines, "machine")))
		lines, err := t.draw()
		if err != nil {
			return nil, err
		}
		p.Y.Max = t.highest()
		setRange(p, 0)
		p.X.Min, p.X.Max = t.extent()
		if i == len(f.timelines)-1 {
			p.X.Label.Text = "time since the warm-up (s)"
		}
		// Under the lines, which come after it, and as high as the panel.
		for _, s := range t.spans {
			from, till := s.From.Seconds(), min(s.Till.Seconds(), p.X.Max)
			shade, err := plotter.NewPolygon(plotter.XYs{{X: from, Y: 0}, {X: till, Y: 0}, {X: till, Y: p.Y.Max}, {X: from, Y: p.Y.Max}})
			if err != nil {
				return nil, fmt.Errorf("plot: %w", err)
			}
			shade.Color, shade.LineStyle = shadow, draw.LineStyle{}
			p.Add(shade)
		}
		p.Add(lines...)
		panels = append(panels, []*plot.Plot{p})
	}
	return panels, nil
}

// draw returns the lines; a second's count stands at its middle.
func (t *timeline) draw() ([]plot.Plotter, error) {
	var all []plot.Plotter
	for _, l := range t.lines {
		points := make(plotter.XYs, len(l.seconds))
		for i, s := range l.seconds {
			points[i] = plotter.XY{X: float64(s.Second) + 0.5, Y: float64(s.Count[session.OK])}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, fmt.Errorf("plot: %w", err)
		}
		line.LineStyle = l.style.line()
		all = append(all, line)
	}
	return all, nil
}

func (t *timeline) highest() float64 {
	var most uint64
	for _, l := range t.lines {
		for _, s := range l.seconds {
			most = max(most, s.Count[session.OK])
		}
	}
	return float64(most)
}

// extent is from the first second of the warm-up to the end of the last.
func (t *timeline) extent() (from, till float64) {
	for _, l := range t.lines {
		for _, s := range l.seconds {
			from, till = min(from, float64(s.Second)), max(till, float64(s.Second+1))
		}
	}
	return from, till
}
