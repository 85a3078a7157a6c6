package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// surgeRun is one with two faults in each of three levels, the last of which was cut short.
func surgeRun(t *testing.T) *result.Run {
	t.Helper()
	rows := []result.Row{
		curveRows("off", "aimd", pick(offShape, 8))[0],
		curveRows("on", "aimd", pick(aimdShape, 8))[0],
		curveRows("on", "paced", pick(pacedShape, 8))[0],
	}
	rows[0].Steady = result.Verdict{Why: "goodput drifts by -190 % of its mean across the level (a fault is within the level)"}
	r := fixture(t, rows)
	r.State = result.Partial
	p := &r.Manifest.Plan
	p.Policies, p.Duration, p.Scenario = []string{"aimd", "paced"}, 12*time.Second, "surge"
	p.Faults = []string{"surge:load,machines=34@2s+2s", "kill:brick-2@9s"}
	for level, goodput := range [][]uint64{
		{1800, 1801, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{1880, 1880, 600, 300, 1200, 1880, 1880, 1880, 1880, 0, 0, 0},
		{1900, 1900, 1890, 1891, 1900, 1900, 1900, 1900},
	} {
		for i, n := range goodput {
			s := result.Second{Level: level, Second: i, Machines: 8}
			s.Count[session.OK], s.Count[session.Timeout], s.Count[session.Rejected] = n, 2000-n, uint64(level)*10_000
			r.Seconds = append(r.Seconds, s)
		}
	}
	return r
}

func TestFaults(t *testing.T) {
	for name, do := range map[string]render{"table_faults.txt": Table, "levels_faults.json": JSON, "plot_faults.svg": plotAs("x.svg")} {
		var buf bytes.Buffer
		if err := do(&buf, []*result.Run{surgeRun(t)}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, buf.Bytes())
	}
	var page bytes.Buffer
	if err := HTML(&page, []*result.Run{surgeRun(t)}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"<h3>Faults</h3>", `<td class="word">not before the next fault</td>`, faultsLegend[:40]} {
		if !strings.Contains(page.String(), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
}

// The faults of a level stand beside its columns, which read as before; without faults nothing does.
func TestFaultsJSON(t *testing.T) {
	var buf bytes.Buffer
	if err := JSON(&buf, []*result.Run{surgeRun(t), onOffRun(t)}); err != nil {
		t.Fatal(err)
	}
	var rows []result.Row
	var faults []struct {
		Faults []faultJSON `json:"faults"`
	}
	if err := json.Unmarshal(buf.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(buf.Bytes(), &faults); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		want := 0
		if i < 3 {
			want = 2
		}
		if len(faults[i].Faults) != want || rows[i].Goodput() < 0 || rows[i].Machines == 0 {
			t.Errorf("level %d: %+v", i, faults[i])
		}
	}
}

// A plan of a later build is refused by its name, not shown without its faults.
func TestFaultsUnknown(t *testing.T) {
	r := surgeRun(t)
	r.Manifest.Plan.Faults[1] = "flood:brick-2@9s"
	for _, do := range []render{Table, JSON, HTML} {
		if err := do(&bytes.Buffer{}, []*result.Run{r}); err == nil || !strings.Contains(err.Error(), "flood") {
			t.Errorf("error %v", err)
		}
	}
}

// Faults in more levels than fit are drawn by load, like a run without.
func TestPlotManyFaults(t *testing.T) {
	for levels, title := range map[int]string{maxTimelines: "Goodput over time", maxTimelines + 1: "against load"} {
		r := surgeRun(t)
		r.Rows = curveRows("on", "aimd", aimdShape[:levels])
		var svg bytes.Buffer
		if err := Plot(&svg, "x.svg", []*result.Run{r}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(svg.String(), title) {
			t.Errorf("%d levels: no %q", levels, title)
		}
	}
}

// A fault that a repair ended is over with the repair, and says how soon it was found.
func TestFaultsWatched(t *testing.T) {
	r := surgeRun(t)
	r.Manifest.Plan.Watch, r.Manifest.Plan.Faults = true, []string{"slow:brick-2,by=1ms@2s"}
	for level := range r.Rows {
		r.Events = append(r.Events,
			result.Event{Level: level, Second: 1, Kind: "alarm", Who: "brick-2"}, // of something before
			result.Event{Level: level, Second: 4, Kind: "alarm", Who: "brick-3"})
	}
	const level, slow = 1, "slow:brick-2,by=1ms@2s"
	r.Events = append(r.Events,
		result.Event{Level: level, Second: 4, Kind: "alarm", Who: "brick-2"},
		result.Event{Level: level, Second: 4, Kind: "fault-over", Who: "brick-2", What: slow},
		result.Event{Level: level, Second: 8, Kind: "alarm", Who: "brick-2"})
	rows, err := faultRows(r)
	if err != nil || len(rows) != len(r.Rows) {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	for i, f := range rows {
		found, till := f.found != nil, f.span.Till
		if found != (i == level) || (found && (*f.found != 2*time.Second || till != 4*time.Second)) || (!found && till != 12*time.Second) {
			t.Errorf("level %d: found %v, over at %v", i, f.found, till)
		}
	}
	var buf bytes.Buffer
	if err := faultGrid(rows, true).Write(&buf); err != nil || strings.Count(buf.String(), "2 s") != 1 || !strings.Contains(buf.String(), "found") {
		t.Errorf("error %v:\n%s", err, &buf)
	}
}
