package result

import (
	"errors"
	"os"
	"path/filepath"
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
	runs, err := List(base)
	if err != nil || len(runs) != 3 || runs[0].Manifest.Run != "20261130T161500Z-ab12cd" || runs[0].State != Unfinished {
		t.Errorf("list %+v, error %v", runs, err)
	}
	if run, err := Latest(base); err != nil || run.Manifest.Run != "20261201T000000Z-0a0b0c" {
		t.Errorf("latest %s, error %v", run.Manifest.Run, err)
	}
	var find *FindError
	if _, err := Latest(filepath.Join(base, "nowhere")); !errors.As(err, &find) {
		t.Errorf("error %v, want a FindError", err)
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
	if _, err := Find(base, filepath.Join(base, "notes")); err == nil {
		t.Error("a path to no run was found")
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
