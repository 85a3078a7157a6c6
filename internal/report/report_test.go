package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

type render func(io.Writer, []*result.Run) error

func plotAs(name string) render {
	return func(w io.Writer, runs []*result.Run) error { return Plot(w, name, runs) }
}

func TestGolden(t *testing.T) {
	usual := func(t *testing.T) []*result.Run { return []*result.Run{onOffRun(t)} }
	policies := func(t *testing.T) []*result.Run {
		r := fixture(t, interleave(curveRows("off", "aimd", offShape), curveRows("on", "aimd", aimdShape), curveRows("on", "paced", pacedShape)))
		r.Manifest.Plan.Policies = []string{"aimd", "paced"}
		return []*result.Run{r}
	}
	sparse := func(t *testing.T) []*result.Run { return []*result.Run{sparseRun(t)} }
	odd := func(t *testing.T) []*result.Run { return []*result.Run{oddRun(t), fixture(t, nil)} }
	tests := []struct {
		name string
		runs func(*testing.T) []*result.Run
		do   render
	}{
		{"table.txt", usual, Table},
		{"table_policies.txt", policies, Table},
		{"table_odd.txt", odd, Table},
		{"levels.csv", usual, CSV},
		{"levels.json", odd, JSON},
		{"marks.txt", policies, Marks},
		{"marks.csv", policies, MarksCSV},
		{"marks.json", usual, MarksJSON},
		{"marks_sparse.txt", sparse, Marks},
		{"published.txt", policies, Published},
		{"published_sparse.txt", sparse, Published},

		{"plot.svg", usual, plotAs("x.svg")},
		{"page.html", usual, HTML},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := tt.do(&buf, tt.runs(t)); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name, buf.Bytes())
		})
	}
}

// sparseRun measures three levels far apart, the last of them with full inboxes.
func sparseRun(t *testing.T) *result.Run {
	t.Helper()
	rows := interleave(curveRows("off", "aimd", pick(offShape, 4, 14, 24)), curveRows("on", "aimd", pick(aimdShape, 4, 14, 24)))
	for brick := range 8 {
		rows[4].Notes = append(rows[4].Notes, fmt.Sprintf("brick-%d dropped %d operations at arrival, its inbox full", brick+1, 4700+brick))
	}
	return fixture(t, rows)
}

// oddRun is a partial native one of two levels, one of them mixed.
func oddRun(t *testing.T) *result.Run {
	t.Helper()
	rows := curveRows("discard", "aimd", []shape{{1, 5.25, 0, 0}, {1, 4000, 12, 0}})
	rows[0].Protection = result.Mixed
	rows[0].Steady = result.Verdict{Why: "the protection changed within the level"}
	rows[0].Wrong, rows[0].Lost = 1, 2
	rows[1].Rates[session.Refused], rows[1].Rates[session.Error] = 3, 4
	rows[1].Offered += 7
	r := fixture(t, rows)
	r.State = result.Partial
	r.Manifest.Profile.Name, r.Manifest.Profile.Processor.Kind = "native", "native"
	r.Manifest.Plan.Rate, r.Manifest.Plan.Size = 4000, 100
	return r
}

func TestCompareGolden(t *testing.T) {
	a, b := onOffRun(t), fixture(t, interleave(curveRows("off", "paced", offShape[4:8]), curveRows("on", "aimd", aimdShape[4:8])))
	for i := range b.Rows {
		b.Rows[i].Rates[session.OK] *= 1.1
	}
	b.Manifest.Run = "20261201T000000Z-0a0b0c"
	var buf bytes.Buffer
	if err := Compare(&buf, a, b); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", buf.Bytes())
	buf.Reset()
	if err := Compare(&buf, a, sparseRun(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare_sparse.txt", buf.Bytes())
}

func TestPNG(t *testing.T) {
	var buf bytes.Buffer
	if err := Plot(&buf, "x.PNG", []*result.Run{onOffRun(t)}); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 1440 || size.Y != 1200 {
		t.Errorf("size %v, want 1440 x 1200", size)
	}
	colors := make(map[[3]uint32]bool)
	for y := range 1200 {
		for x := range 1440 {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	if !colors[[3]uint32{213, 94, 0}] || !colors[[3]uint32{0, 114, 178}] {
		t.Error("the curves' colors are missing")
	}
}

// Hollow points are explained where there are any, and only there.
func TestPlotExplainsWeakLevels(t *testing.T) {
	for runs, want := range map[*result.Run]bool{onOffRun(t): true, sparseRun(t): false} {
		var buf bytes.Buffer
		if err := Plot(&buf, "x.svg", []*result.Run{runs}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(buf.String(), weakEntry); got != want {
			t.Errorf("legend speaks of weak levels: %v, want %v", got, want)
		}
	}
}

// Whatever the rows, everything that renders one run renders it.
func TestSmallestRuns(t *testing.T) {
	for name, rows := range map[string][]result.Row{
		"one level":  curveRows("on", "aimd", aimdShape[:1]),
		"no goodput": curveRows("off", "aimd", offShape[5:6]),
		"mixed only": {oddRun(t).Rows[0]},
		"all halves": interleave(curveRows("off", "aimd", offShape), curveRows("window", "aimd", aimdShape), curveRows("discard", "aimd", offShape)),
		"many policies": slices.Concat(curveRows("on", "a", aimdShape), curveRows("on", "b", aimdShape), curveRows("on", "c", aimdShape),
			curveRows("on", "d", aimdShape), curveRows("on", "e", aimdShape), curveRows("on", "f", aimdShape), curveRows("on", "g", aimdShape)),
	} {
		runs := []*result.Run{fixture(t, rows)}
		for _, do := range []render{Table, CSV, JSON, HTML} {
			if err := do(io.Discard, runs); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := plotAs("x.svg")(io.Discard, runs); err != nil && name != "mixed only" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrors(t *testing.T) {
	empty, mixed := fixture(t, nil), fixture(t, oddRun(t).Rows[:1])
	odd := oddRun(t)
	tests := []struct {
		name, want string
		do         func() error
	}{
		{"no rows", "has no level yet", func() error { return Table(io.Discard, []*result.Run{empty}) }},
		{"no runs", "no level to report", func() error { return CSV(io.Discard, nil) }},
		{"no rows as JSON", "has no level", func() error { return JSON(io.Discard, []*result.Run{empty}) }},
		{"no rows for a page", "has no level", func() error { return HTML(io.Discard, []*result.Run{empty}) }},
		{"no marks", "no marks", func() error { return Marks(io.Discard, []*result.Run{mixed}) }},
		{"no marks as CSV", "no marks", func() error { return MarksCSV(io.Discard, []*result.Run{mixed}) }},
		{"no marks as JSON", "no marks", func() error { return MarksJSON(io.Discard, []*result.Run{mixed}) }},
		{"nothing to plot", "nothing to plot", func() error { return Plot(io.Discard, "x.svg", []*result.Run{mixed}) }},
		{"unknown extension", ".gif", func() error { return Plot(io.Discard, "x.gif", []*result.Run{odd}) }},
		{"no extension", "no extension", func() error { return CheckPlotName("plot") }},
		{"nothing published", "off,on", func() error { return Published(io.Discard, []*result.Run{odd}) }},
		{"nothing in common", "in common", func() error { return Compare(io.Discard, odd, onOffRun(t)) }},
	}
	for mode, want := range map[string]string{result.Live: "ssmctl load --resume", result.Sim: "simulate it again"} {
		empty.Manifest.Mode = mode
		if err := Table(io.Discard, []*result.Run{empty}); !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "resume") != (mode == result.Live) {
			t.Errorf("a %s run without a level: error %v, want %s", mode, err, want)
		}
	}
	for _, tt := range tests {
		err := tt.do()
		var e *Error
		if !errors.As(err, &e) || e.Hint == "" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want an Error with %q and a hint", tt.name, err, tt.want)
		}
	}
}

// A page must not fetch anything, nor let a name out of its place.
func TestPageIsSelfContained(t *testing.T) {
	r := onOffRun(t)
	r.Manifest.Hosts = []string{"<script>alert(1)</script>"}
	for i := range r.Rows {
		r.Rows[i].Policy = `"><script>x</script>`
	}
	var buf bytes.Buffer
	if err := HTML(&buf, []*result.Run{r}); err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(buf.String(), "http://www.w3.org/", "") // the names of SVG's name spaces
	for _, bad := range []string{"<script", "src=", "http:", "https:", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q in it", bad)
		}
	}
	if !strings.Contains(page, "<svg") {
		t.Error("the page has no plot")
	}
}

func TestJSONKeepsEverything(t *testing.T) {
	r := onOffRun(t)
	var buf bytes.Buffer
	if err := JSON(&buf, []*result.Run{r}); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(buf.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	for _, column := range strings.Split(result.LevelsHeader, ",") {
		if _, ok := rows[0][column]; !ok {
			t.Errorf("%s is missing", column)
		}
	}
}
