package result

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// threeRuns makes runs with known names, and folders that are none.
func threeRuns(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	for _, name := range []string{"20261130T161500Z-ab12cd", "20261130T161501Z-ab34ef", "20261201T000000Z-0a0b0c"} {
		d, err := Create(base, Manifest{Run: name, Started: started})
		if err != nil {
			t.Fatal(err)
		}
		giveBack(t, d)
	}
	for _, foreign := range []string{"notes", "20270101T000000Z-ffffff"} {
		if err := os.Mkdir(filepath.Join(base, foreign), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

func TestListAndLatest(t *testing.T) {
	base := threeRuns(t)
	runs, _, err := List(base)
	if err != nil || len(runs) != 3 || runs[0].Manifest.Run != "20261130T161500Z-ab12cd" || runs[0].State != Unfinished {
		t.Errorf("list %+v, error %v", runs, err)
	}
	if run, _, err := Latest(base); err != nil || run.Manifest.Run != "20261201T000000Z-0a0b0c" {
		t.Errorf("latest %s, error %v", run.Manifest.Run, err)
	}
	var find *FindError
	if _, _, err := Latest(filepath.Join(base, "nowhere")); !errors.As(err, &find) {
		t.Errorf("error %v, want a FindError", err)
	}
}

// Runs that cannot be read.
const brokenRun, newerRun, movedRun = "20261202T000000Z-bbbbbb", "20261202T000001Z-cccccc", "20261202T000002Z-dddddd"

// damageRuns adds them, each for another reason.
func damageRuns(t *testing.T, base string) {
	t.Helper()
	for name, manifest := range map[string]string{
		brokenRun: "{", newerRun: `{"format_version": 99, "run": "` + newerRun + `"}`, movedRun: `{"format_version": 1, "run": "` + brokenRun + `"}`,
	} {
		if err := os.Mkdir(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, name, manifestFile), []byte(manifest), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What has a run's name and cannot be read is told, and does not pass for no run at all.
func TestDamagedRuns(t *testing.T) {
	base := threeRuns(t)
	damageRuns(t, base)
	check := func(what string, err error, text string) {
		t.Helper()
		var damaged *DamagedError
		if !errors.As(err, &damaged) || !strings.Contains(err.Error(), text) || strings.Count(err.Error(), base) != strings.Count(err.Error(), "\n")+1 {
			t.Errorf("%s: error %v, want what is wrong, and where, once: %s", what, err, text)
		}
	}
	runs, damaged, err := List(base)
	if err != nil || len(runs) != 3 || len(damaged) != 3 {
		t.Fatalf("%d runs and %d damaged, error %v", len(runs), len(damaged), err)
	}
	for i, want := range []string{"manifest.json: unexpected end", "format version 99", "its manifest is that of run"} {
		check("list", damaged[i], want)
	}
	if run, damaged, err := Latest(base); err != nil || run.Manifest.Run != "20261201T000000Z-0a0b0c" || len(damaged) != 3 {
		t.Errorf("latest %s beside %d damaged, error %v", run.Manifest.Run, len(damaged), err)
	}
	for _, name := range []string{newerRun, "cccc", filepath.Join(base, newerRun)} {
		_, err := Find(base, name)
		check(name, err, "format version 99")
	}
}

// Where no run can be read, the newest is said to be damaged and not to be missing.
func TestLatestOfDamagedRuns(t *testing.T) {
	base := t.TempDir()
	damageRuns(t, base)
	_, _, err := Latest(base)
	if !errors.As(err, new(*DamagedError)) || strings.Count(err.Error(), base) != 3 {
		t.Errorf("error %v, want what is wrong with each", err)
	}
}

// The newest run is the newest that has something to show.
func TestLatestSkipsEmptyRuns(t *testing.T) {
	base := threeRuns(t)
	d := simulate(t, base, 1, Partial)
	old := started.AddDate(-1, 0, 0)
	if err := os.Chtimes(filepath.Join(d.Path(), manifestFile), old, old); err != nil {
		t.Fatal(err)
	}
	if run, _, err := Latest(base); err != nil || run.Path != d.Path() {
		t.Errorf("latest %s, error %v", run.Path, err)
	}
}

func TestFind(t *testing.T) {
	base := threeRuns(t)
	tests := []struct {
		name, want string
		candidates int
	}{
		{"20261130T161500Z-ab12cd", "20261130T161500Z-ab12cd", 0},
		{"ab12cd", "20261130T161500Z-ab12cd", 0},
		{"ab3", "20261130T161501Z-ab34ef", 0},
		{"202612", "20261201T000000Z-0a0b0c", 0},
		{filepath.Join(base, "20261201T000000Z-0a0b0c") + "/", "20261201T000000Z-0a0b0c", 0},
		{"ab", "", 2},
		{"20261130", "", 2},
		{"zz", "", 0},
		{"", "", 0},
	}
	for _, tt := range tests {
		run, err := Find(base, tt.name)
		if run.Manifest.Run != tt.want {
			t.Errorf("%q: found %q, want %q (error %v)", tt.name, run.Manifest.Run, tt.want, err)
		}
		var find *FindError
		if tt.want == "" && (!errors.As(err, &find) || len(find.Candidates) != tt.candidates || find.Error() == "") {
			t.Errorf("%q: error %v, want a FindError with %d candidates", tt.name, err, tt.candidates)
		}
	}
	for _, name := range []string{"notes", "20270101T000000Z-ffffff", "nowhere"} {
		path := filepath.Join(base, name)
		if _, err := Find(base, path); err == nil || strings.Count(err.Error(), base) != 1 || strings.Count(err.Error(), "see ssmctl runs list") != 1 {
			t.Errorf("%s: error %v, want the path and the hint once", name, err)
		}
	}
}

func TestRemove(t *testing.T) {
	base := threeRuns(t)
	link := filepath.Join(t.TempDir(), "20261130T161500Z-ab12cd")
	if err := os.Symlink(filepath.Join(base, "20261130T161500Z-ab12cd"), link); err != nil {
		t.Fatal(err)
	}
	renamed := filepath.Join(base, "20261130T161501Z-abcdef")
	if err := os.Rename(filepath.Join(base, "20261130T161501Z-ab34ef"), renamed); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{base, filepath.Join(base, "notes"), filepath.Join(base, "20270101T000000Z-ffffff"), link, renamed, "/"} {
		var dir *DirError
		if err := Remove(path); !errors.As(err, &dir) {
			t.Errorf("%s: error %v, want a DirError", path, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	run := filepath.Join(base, "20261130T161500Z-ab12cd")
	if err := Remove(run); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(run); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}
