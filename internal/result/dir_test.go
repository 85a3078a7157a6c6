package result

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ssmctl/ssmctl/internal/session"
)

var started = time.Date(2026, 11, 30, 16, 15, 0, 0, time.UTC)

// sample is the nth level of a run, all parts filled in.
func sample(n int) Level {
	h := NewHistograms()
	h.Record(session.Write, session.OK, time.Duration(n+1)*time.Millisecond)
	h.Record(session.Read, session.Timeout, 60*time.Millisecond)
	var seconds []Second
	for i := range 5 {
		s := second(i-1, "on", uint64(100*n+i), 3)
		s.Level, s.P50 = n, 7*time.Millisecond
		seconds = append(seconds, s)
	}
	row := NewRow(Measured{Mode: Live, Policy: "aimd", Machines: 2, Threads: 12, Seconds: seconds, Latency: h.OK(), Notes: []string{"a, note"}})
	return Level{Row: row, Start: started, Seconds: seconds, PerHost: map[string][]Second{"a/b": seconds[:2]}, Histograms: h}
}

func create(t *testing.T, base string) *Dir {
	t.Helper()
	d, err := Create(base, Manifest{Mode: Live, Started: started, Plan: Plan{Machines: []int{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func appendLevels(t *testing.T, d *Dir, n int) {
	t.Helper()
	for range n {
		if err := d.AppendLevel(sample(d.Levels())); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, path string) *Run {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkLevels compares a run read back with n samples.
func checkLevels(t *testing.T, r *Run, n int) {
	t.Helper()
	var want Run
	for i := range n {
		l := sample(i)
		want.Rows = append(want.Rows, l.Row)
		want.Seconds = append(want.Seconds, l.Seconds...)
		h, err := r.Histograms(i)
		if err != nil {
			t.Fatal(err)
		}
		if h.OK() != l.Histograms.OK() || h.Count(session.Read, session.Timeout) != 1 {
			t.Errorf("level %d: the histograms differ", i)
		}
	}
	if diff := cmp.Diff(want.Rows, r.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Seconds, r.Seconds, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("seconds (-want +got):\n%s", diff)
	}
	if n > 0 && len(r.PerHost["a/b"]) != 2*n {
		t.Errorf("host a/b has %d seconds, want %d", len(r.PerHost["a/b"]), 2*n)
	}
}

func TestDirRoundTrip(t *testing.T) {
	base := filepath.Join(t.TempDir(), "runs")
	d := create(t, base)
	if r := open(t, d.Path()); r.State != Running || len(r.Rows) != 0 {
		t.Errorf("a run just begun is %s with %d rows", r.State, len(r.Rows))
	}
	appendLevels(t, d, 2)
	event := Event{Time: started, Level: 1, Second: 2.5, Kind: "toggle", What: "off"}
	for range 2 {
		if err := d.AddEvent(event); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Finish(Partial, "interrupted"); err != nil {
		t.Fatal(err)
	}
	r := open(t, d.Path())
	checkLevels(t, r, 2)
	if r.State != Partial || r.Why != "interrupted" || len(r.Events) != 2 || r.Events[0] != event {
		t.Errorf("state %s (%s), events %+v", r.State, r.Why, r.Events)
	}
	if diff := cmp.Diff(d.Manifest(), r.Manifest); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	if name := filepath.Base(d.Path()); !strings.HasPrefix(name, "20261130T161500Z-") || r.Manifest.Run != name {
		t.Errorf("directory %s, run %s", name, r.Manifest.Run)
	}
}

// The files for people parse to the rows and seconds that they show.
func TestDirCSVs(t *testing.T) {
	d := create(t, t.TempDir())
	appendLevels(t, d, 3)
	levels, err := os.ReadFile(filepath.Join(d.Path(), "levels.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := ParseLevels(levels); err != nil || len(rows) != 3 {
		t.Errorf("levels.csv has %d rows, error %v", len(rows), err)
	}
	series, err := os.ReadFile(filepath.Join(d.Path(), "series.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if seconds, err := ParseSeries(series); err != nil || len(seconds) != 15 {
		t.Errorf("series.csv has %d seconds, error %v", len(seconds), err)
	}
}

func TestAppendLevelRefusesOtherLevels(t *testing.T) {
	d := create(t, t.TempDir())
	if err := d.AppendLevel(sample(1)); err == nil {
		t.Error("level 1 came before level 0")
	}
	l := sample(0)
	l.PerHost["a/b"] = sample(1).Seconds
	if err := d.AppendLevel(l); err == nil {
		t.Error("a host's seconds were of another level")
	}
	if err := d.Finish(Unfinished, ""); err == nil {
		t.Error("unfinished finishes nothing")
	}
}

// giveBack ends a writer as the end of its process would.
func giveBack(t *testing.T, d *Dir) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// A run has one writer: it can be neither resumed nor removed by another meanwhile.
func TestOneWriter(t *testing.T) {
	d := create(t, t.TempDir())
	var dir *DirError
	if _, err := Resume(d.Path(), 0); !errors.As(err, &dir) || !strings.Contains(err.Error(), "being measured") {
		t.Errorf("resumed: error %v", err)
	}
	if err := Remove(d.Path()); !errors.As(err, &dir) || !strings.Contains(err.Error(), "being measured") {
		t.Errorf("removed: error %v", err)
	}
	giveBack(t, d)
	if r := open(t, d.Path()); r.State != Unfinished {
		t.Errorf("given back, it is %s", r.State)
	}
	again, err := Resume(d.Path(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Finish(Complete, ""); err != nil {
		t.Fatal(err)
	}
	if err := Remove(d.Path()); err != nil {
		t.Error(err)
	}
}

// A level of which only some files were written is passed over, and can be written again.
func TestTornLevel(t *testing.T) {
	for _, after := range []int{0, 1} {
		d := create(t, t.TempDir())
		appendLevels(t, d, after)
		record := filepath.Join(d.Path(), rowsFile)
		before, _ := os.ReadFile(record) // absent before the first level
		appendLevels(t, d, 1)
		if err := os.WriteFile(record, before, 0o644); err != nil { // as if the crash came before the last file
			t.Fatal(err)
		}
		giveBack(t, d)
		checkLevels(t, open(t, d.Path()), after)
		again, err := Resume(d.Path(), after)
		if err != nil {
			t.Fatal(err)
		}
		appendLevels(t, again, 2)
		checkLevels(t, open(t, d.Path()), after+2)
	}
}

func TestResume(t *testing.T) {
	d := create(t, t.TempDir())
	appendLevels(t, d, 3)
	if err := d.AddEvent(Event{Kind: "interrupted"}); err != nil {
		t.Fatal(err)
	}
	if err := d.Finish(Partial, "interrupted"); err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(d.Path(), eventsFile)
	whole, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{events: string(whole) + `{"time":`, filepath.Join(d.Path(), ".levels.csv123"): "x"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := open(t, d.Path()); len(r.Events) != 1 {
		t.Errorf("%d events, want the whole one alone", len(r.Events))
	}
	if _, err := Resume(d.Path(), 4); err == nil {
		t.Error("there are no 4 levels to go on after")
	}
	again, err := Resume(d.Path(), 2)
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, d.Path())
	checkLevels(t, r, 2)
	if r.State != Running {
		t.Errorf("a resumed run is %s", r.State)
	}
	if err := again.AddEvent(Event{Kind: "resumed"}); err != nil {
		t.Fatal(err)
	}
	appendLevels(t, again, 2)
	r = open(t, d.Path())
	checkLevels(t, r, 4)
	if len(r.Events) != 2 {
		t.Errorf("%d events, want 2", len(r.Events))
	}
	if left, _ := filepath.Glob(filepath.Join(d.Path(), ".*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	d := create(t, dir)
	tests := []struct {
		name, base string
		m          Manifest
	}{
		{"base is a file", file, Manifest{Started: started}},
		{"the run is there already", dir, d.Manifest()},
	}
	for _, tt := range tests {
		_, err := Create(tt.base, tt.m)
		var dirErr *DirError
		if !errors.As(err, &dirErr) || dirErr.Hint == "" {
			t.Errorf("%s: error %v, want a DirError with a hint", tt.name, err)
		}
	}
	if _, err := Create(dir, Manifest{Run: "../x"}); err == nil {
		t.Error("a name that leads elsewhere was taken")
	}
}

func TestOpenErrors(t *testing.T) {
	damage := func(name, text string) string {
		d := create(t, t.TempDir())
		appendLevels(t, d, 1)
		if err := os.WriteFile(filepath.Join(d.Path(), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return d.Path()
	}
	var dir *DirError
	var format *FormatError
	tests := []struct {
		name, path string
		target     any
	}{
		{"no run", t.TempDir(), &dir},
		{"newer format", damage(manifestFile, `{"format_version":99}`), &dir},
		{"broken manifest", damage(manifestFile, `{`), &format},
		{"broken record", damage(rowsFile, "{\n"), &format},
		{"broken series", damage(seriesFile, "level\n"), &format},
		{"broken host's series", damage("series-h.csv", "level\n"), &format},
	}
	for _, tt := range tests {
		if _, err := Open(tt.path); !errors.As(err, tt.target) {
			t.Errorf("%s: error %v, want a %T", tt.name, err, tt.target)
		}
	}
}
