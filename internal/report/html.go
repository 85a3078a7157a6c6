package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ssmctl/ssmctl/internal/result"
)

//go:embed page.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template shows.
type page struct {
	Runs      []pageRun
	Plot      template.HTML // empty if there is no curve
	Marks     *pageGrid
	Published []pageGrid
	// What to know of these two.
	MarksNotes, PublishedNotes []string
	Source                     string
	Caveat                     string
}

type pageRun struct {
	Name     string
	How      string
	Sentence string
	Levels   *pageGrid // nil without any
	Notes    []string
	Faults   *pageGrid // nil without any
	Legend   string    // of Faults
	Facts    [][2]string
	Params   []result.Parameter
	Events   []result.Event
}

// pageGrid is a grid with its cells ready for a page.
type pageGrid struct {
	Title  string
	Header []string
	Rows   [][]pageCell
}

type pageCell struct {
	Text string
	Left bool
}

// HTML renders one page that needs nothing beside itself: no script, no style sheet,
// no font and no picture from elsewhere.
func HTML(w io.Writer, runs []*result.Run) error {
	if _, err := allRows(runs); err != nil {
		return err
	}
	p := page{Source: publishedSource, Caveat: publishedCaveat(runs)}
	for _, r := range runs {
		run, err := newPageRun(r)
		if err != nil {
			return err
		}
		p.Runs = append(p.Runs, run)
	}
	if err := p.addCurves(runs); err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := pageTemplate.Execute(&buf, p); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err := buf.WriteTo(w)
	return err
}

// addCurves fills in what needs curves; levels that are all mixed have none.
func (p *page) addCurves(runs []*result.Run) error {
	var none *Error
	marks, err := allMarks(runs)
	if errors.As(err, &none) {
		return nil
	} else if err != nil {
		return err
	}
	notes := &footnotes{}
	p.Marks = newPageGrid("", marksGrid(marks, notes))
	p.MarksNotes = notes.texts
	f, err := newFigure(runs)
	if err != nil {
		return err
	}
	svg, err := f.svg()
	if err != nil {
		return err
	}
	// Made here, of numbers and names that the SVG writer escaped. The XML head has no place in a page.
	p.Plot = template.HTML(svg[bytes.Index(svg, []byte("<svg")):]) //nolint:gosec // see above
	notes = &footnotes{}
	grids, titles, err := publishedGrids(runs, notes)
	if err != nil && !errors.As(err, &none) {
		return err
	}
	for i, g := range grids {
		p.Published = append(p.Published, *newPageGrid(titles[i], g))
	}
	p.PublishedNotes = notes.texts
	return nil
}

func newPageRun(r *result.Run) (pageRun, error) {
	run := pageRun{
		Name: r.Manifest.Run, How: describe(r), Sentence: sentenceOf(r),
		Facts: facts(r), Params: r.Manifest.Parameters, Events: r.Events,
	}
	if len(r.Rows) > 0 {
		notes := &footnotes{}
		run.Levels = newPageGrid("", levelGrid(r.Rows, notes))
		run.Notes = notes.texts
	}
	if text := auditText(r); text != "" {
		run.Facts = append(run.Facts, [2]string{"audit", strings.TrimPrefix(text, auditWord)})
	}
	faults, err := faultRows(r)
	if len(faults) > 0 {
		run.Faults, run.Legend = newPageGrid("", faultGrid(faults, r.Manifest.Plan.Watch)), faultsLegend
	}
	return run, err
}

func facts(r *result.Run) [][2]string {
	m := &r.Manifest
	ended := string(r.State)
	if r.Why != "" {
		ended += ": " + r.Why
	}
	if m.Started.IsZero() { // a simulated run says nothing of where and when
		return [][2]string{
			{"ended", ended},
			{"ssmctl", m.Version},
			{"seed", strconv.FormatUint(m.Plan.Seed, 10)},
			{"profile", m.Profile.Description},
		}
	}
	return [][2]string{
		{"started", m.Started.UTC().Format(time.RFC3339)},
		{"ended", ended},
		{"ssmctl", m.Version},
		{"binary, SHA-256", m.BinarySHA256},
		{"hosts", list(m.Hosts)},
		{"kernel", m.Kernel},
		{"CPU", fmt.Sprintf("%s, %s", m.CPU, plural(m.Cores, "core"))},
		{"Go", m.Go},
		{"seed", strconv.FormatUint(m.Plan.Seed, 10)},
		{"profile", m.Profile.Description},
	}
}

func newPageGrid(title string, g *Grid) *pageGrid {
	p := &pageGrid{Title: title}
	for _, h := range g.Header {
		p.Header = append(p.Header, strings.ReplaceAll(h, "\n", " "))
	}
	for _, row := range g.rows {
		cells := make([]pageCell, len(row))
		for i, text := range row {
			cells[i] = pageCell{Text: text, Left: i < len(g.Left) && g.Left[i]}
		}
		p.Rows = append(p.Rows, cells)
	}
	return p
}
