package result

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func simManifest(seed uint64) Manifest {
	return Manifest{Mode: Sim, Version: "v1", Plan: Plan{Machines: []int{1}, Seed: seed}}
}

// simulate makes a simulated run of so many levels that ends in a state.
func simulate(t *testing.T, base string, levels int, s State) *Dir {
	t.Helper()
	d, err := Create(base, simManifest(1))
	if err != nil {
		t.Fatal(err)
	}
	appendLevels(t, d, levels)
	if err := d.Finish(s, ""); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSimName(t *testing.T) {
	one, err := simName(simManifest(1))
	if err != nil || !namePattern.MatchString(one) {
		t.Fatalf("name %q, error %v", one, err)
	}
	for _, other := range []func(*Manifest){
		func(m *Manifest) { m.Plan.Seed = 2 },
		func(m *Manifest) { m.Version = "v2" },
		func(m *Manifest) { m.Profile.Name = "other" },
	} {
		m := simManifest(1)
		other(&m)
		if name, err := simName(m); err != nil || name == one {
			t.Errorf("%+v has the name of another run, error %v", m, err)
		}
	}
	m := simManifest(1)
	m.Run = one
	if name, err := simName(m); err != nil || name != one {
		t.Errorf("the name depends on the name: %q, error %v", name, err)
	}
}

func TestDraftIsOutOfSight(t *testing.T) {
	base := t.TempDir()
	d, err := Create(base, simManifest(1))
	if err != nil {
		t.Fatal(err)
	}
	appendLevels(t, d, 1)
	if runs, _, err := List(base); err != nil || len(runs) != 0 {
		t.Errorf("before its end it is in the list: %+v, error %v", runs, err)
	}
	if err := d.Finish(Complete, ""); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(base, d.Manifest().Run); d.Path() != want {
		t.Errorf("it lies in %s, want %s", d.Path(), want)
	}
	checkLevels(t, open(t, d.Path()), 1)
	if entries, err := os.ReadDir(base); err != nil || len(entries) != 1 {
		t.Errorf("beside the run there is something left: %v, error %v", entries, err)
	}
}

func TestPlace(t *testing.T) {
	tests := []struct {
		name          string
		before, after State
		levels        int // of the one that is kept; the earlier run has 1, the later 2
		state         State
	}{
		{"a complete run replaces a complete one", Complete, Complete, 2, Complete},
		{"a complete run replaces a partial one", Partial, Complete, 2, Complete},
		{"a partial run replaces a partial one", Partial, Partial, 2, Partial},
		{"a partial run does not replace a complete one", Complete, Partial, 1, Complete},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := t.TempDir()
			simulate(t, base, 1, tt.before)
			d := simulate(t, base, 2, tt.after)
			r := open(t, d.Path())
			checkLevels(t, r, tt.levels)
			if r.State != tt.state {
				t.Errorf("it is %s, want %s", r.State, tt.state)
			}
			if entries, err := os.ReadDir(base); err != nil || len(entries) != 1 {
				t.Errorf("beside the run there is something left: %v, error %v", entries, err)
			}
		})
	}
}

// A draft without a level leaves nothing, and what was there before as it was.
func TestDiscard(t *testing.T) {
	base := t.TempDir()
	for _, levels := range []int{0, 1} {
		if levels > 0 {
			simulate(t, base, levels, Partial)
		}
		d, err := Create(base, simManifest(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Discard(); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(base); err != nil || len(entries) != levels {
			t.Errorf("%v is left, error %v", entries, err)
		}
	}
	live := create(t, base)
	if err := live.Discard(); err == nil {
		t.Error("a run that is no draft was discarded")
	}
}

func TestPlaceSpares(t *testing.T) {
	base := t.TempDir()
	m := simManifest(1)
	m.FormatVersion = FormatVersion
	name, err := simName(m)
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(base, name, "notes")
	if err := os.MkdirAll(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	var dir *DirError
	if _, err := Create(base, simManifest(1)); !errors.As(err, &dir) || dir.Hint == "" {
		t.Errorf("error %v, want a DirError with a hint", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("what is no run was touched: %v", err)
	}
}

func TestAbandonedDrafts(t *testing.T) {
	base := t.TempDir()
	abandoned, fresh := filepath.Join(base, ".sim-a"), filepath.Join(base, ".sim-b")
	for _, path := range []string{abandoned, fresh} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Create(base, simManifest(2))
	if err != nil {
		t.Fatal(err)
	}
	held := d.Path()
	long := time.Now().Add(-2 * draftAge)
	for _, path := range []string{abandoned, held} {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	simulate(t, base, 1, Complete)
	for path, stays := range map[string]bool{abandoned: false, held: true, fresh: true} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: error %v, want it to stay: %v", path, err, stays)
		}
	}
	giveBack(t, d)
}

func TestSwapInSteps(t *testing.T) {
	base := t.TempDir()
	a, b := filepath.Join(base, "a"), filepath.Join(base, "b")
	for _, path := range []string{a, b} {
		if err := os.MkdirAll(filepath.Join(path, "was "+filepath.Base(path)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := swapInSteps(a, b); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(a, "was b"), filepath.Join(b, "was a")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if err := swapInSteps(a, filepath.Join(base, "c")); err == nil {
		t.Error("swapped with what is not there")
	}
}

// Live runs stand where they were started, simulated ones where they were last made.
func TestListOrdersBothKinds(t *testing.T) {
	base := threeRuns(t)
	d := simulate(t, base, 1, Complete)
	at := func(when time.Time) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(d.Path(), manifestFile), when, when); err != nil {
			t.Fatal(err)
		}
	}
	at(started.Add(time.Hour))
	if run, _, err := Latest(base); err != nil || run.Path != d.Path() {
		t.Errorf("latest %s, error %v", run.Path, err)
	}
	at(started.Add(-time.Hour))
	if runs, _, err := List(base); err != nil || runs[0].Path != d.Path() || !runs[0].Started.Equal(started.Add(-time.Hour)) {
		t.Errorf("list %+v, error %v", runs, err)
	}
	if run, err := Find(base, "sim"); err != nil || run.Path != d.Path() {
		t.Errorf("found %s, error %v", run.Path, err)
	}
}
