package result

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// planned makes a complete run of a plan of two levels under two settings.
func planned(t *testing.T) string {
	t.Helper()
	d, err := Create(t.TempDir(), Manifest{Mode: Live, Started: started, Plan: Plan{
		Machines: []int{2, 3}, Protection: []string{"off", "on"}, Policies: []string{"aimd"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := d.Manifest()
	for i, p := range m.Plan.Unfold() {
		l := sample(i)
		l.Row.Machines, l.Row.Protection, l.Row.Policy = p.Machines, p.Protection, p.Policy
		if err := d.AppendLevel(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Finish(Complete, ""); err != nil {
		t.Fatal(err)
	}
	return d.Path()
}

// A run that misses a part of itself, or has a part twice, is told from a whole one.
func TestOpenMissesNothing(t *testing.T) {
	whole := planned(t)
	if r := open(t, whole); len(r.Rows) != 4 {
		t.Fatalf("%d levels", len(r.Rows))
	}
	lines := func(change func(l [][]byte) [][]byte) func([]byte) []byte {
		return func(text []byte) []byte { return bytes.Join(change(bytes.SplitAfter(text, []byte("\n"))), nil) }
	}
	replace := func(was, is string) func([]byte) []byte {
		return func(text []byte) []byte { return bytes.Replace(text, []byte(was), []byte(is), 1) }
	}
	for _, tt := range []struct {
		name, file string
		change     func([]byte) []byte // nil removes the file
		want       string
	}{
		{"no series", seriesFile, nil, "0 seconds of level 0, which has 4"},
		{"half a series", seriesFile, lines(func(l [][]byte) [][]byte { return l[:11] }), "0 seconds of level 2, which has 4"},
		{"a second less", seriesFile, lines(func(l [][]byte) [][]byte { return append(l[:3:3], l[4:]...) }), "3 seconds of level 0, which has 4"},
		{"a second twice", seriesFile, lines(func(l [][]byte) [][]byte { return append(l[:3:3], l[2:]...) }), "comes after second"},
		{"a second of no level", seriesFile, replace("\n0,-1,", "\n-1,-1,"), "a second of level -1"},
		{"no levels", rowsFile, nil, "0 of 4 levels, though the run is marked complete"},
		{"a level less", rowsFile, lines(func(l [][]byte) [][]byte { return l[:3] }), "3 of 4 levels"},
		{"the first level less", rowsFile, lines(func(l [][]byte) [][]byte { return l[1:] }), "where the plan has that of machines 2, policy aimd, protection off"},
		{"a level twice", rowsFile, lines(func(l [][]byte) [][]byte { return append(l[:2:2], l[1:]...) }), "line 3: the level of machines 2, policy aimd, protection on"},
		{"the last level twice", rowsFile, lines(func(l [][]byte) [][]byte { return append(l[:4:4], l[3]) }), "line 5: a level beyond the 4 of the plan"},
		{"levels changed round", rowsFile, lines(func(l [][]byte) [][]byte { return [][]byte{l[1], l[0], l[2], l[3]} }), "line 1: "},
		{"other machines", rowsFile, replace(`"machines":2`, `"machines":-1`), "line 1: "},
		{"another policy", rowsFile, replace(`"policy":"aimd"`, `"policy":"paced"`), "policy paced"},
		{"a negative rate", rowsFile, replace(`"late_rps":`, `"late_rps":-`), "line 1: not a number of zero or more"},
		{"a negative time", rowsFile, replace(`"max_ms":`, `"max_ms":-`), "line 1: not a number of zero or more"},
		{"a plan that cannot be", manifestFile, replace("2,\n", "-1,\n"), "a level of -1 machines"},
		{"a plan that falls", manifestFile, replace("2,\n", "7,\n"), "a level of 3 machines"},
		{"a plan of less than nothing", manifestFile, replace(`"threads": 0`, `"threads": -12`), "below zero"},
	} {
		path := filepath.Join(t.TempDir(), filepath.Base(whole))
		if err := os.CopyFS(path, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(path, tt.file)
		if tt.change == nil {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		} else {
			text, err := os.ReadFile(file)
			changed := tt.change(bytes.Clone(text))
			if err != nil || bytes.Equal(text, changed) {
				t.Fatalf("%s: nothing was changed, error %v", tt.name, err)
			}
			if err := os.WriteFile(file, changed, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var format *FormatError
		if _, err := Open(path); !errors.As(err, &format) || format.File != file || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one of %s: %s", tt.name, err, tt.file, tt.want)
		}
	}
}

// A plan is unfolded level by level; with the window off one policy stands for all.
func TestUnfold(t *testing.T) {
	p := Plan{Machines: []int{1, 2}, Protection: []string{"off", "on"}, Policies: []string{"aimd", "paced"}}
	want := []Planned{
		{1, "off", "aimd"},
		{1, "on", "aimd"},
		{1, "on", "paced"},
		{2, "off", "aimd"},
		{2, "on", "aimd"},
		{2, "on", "paced"},
	}
	if diff := cmp.Diff(want, p.Unfold()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p = Plan{Machines: []int{1}, Policies: []string{"aimd", "paced"}}
	if diff := cmp.Diff([]Planned{{1, "", "aimd"}, {1, "", "paced"}}, p.Unfold()); diff != "" {
		t.Errorf("as found (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		asked, found string
		fits         bool
	}{
		{"on", "on", true},
		{"on", Mixed, true},
		{"on", "off", false},
		{"", "window", true},
	} {
		one := Planned{Machines: 1, Protection: tt.asked, Policy: "aimd"}
		if got := one.fits(&Row{Machines: 1, Protection: tt.found, Policy: "aimd"}); got != tt.fits {
			t.Errorf("%s for %q fits: %v", tt.found, tt.asked, got)
		}
	}
}
