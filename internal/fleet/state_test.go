package fleet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet"
)

func TestReadingMakesNothing(t *testing.T) {
	s, dir := newState(t)
	if records, err := s.Records(); err != nil || len(records) > 0 {
		t.Errorf("records %v, error %v", records, err)
	}
	if roster, err := s.Running(); err != nil || len(roster.Bricks) > 0 {
		t.Errorf("roster %v, error %v", roster, err)
	}
	if ended, err := s.Stop(t.Context()); err != nil || len(ended) > 0 {
		t.Errorf("ended %v, error %v", ended, err)
	}
	var unknown *fleet.UnknownError
	if _, err := s.Restart(t.Context(), 1); !errors.As(err, &unknown) {
		t.Errorf("restart: error %v, want an *UnknownError", err)
	}
	if _, err := s.LogLines(1, 1); !errors.As(err, &unknown) {
		t.Errorf("logs: error %v, want an *UnknownError", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory was made: %v", err)
	}
}

func TestStateDirectory(t *testing.T) {
	base := t.TempDir()
	open := filepath.Join(base, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	told := 0
	if _, err := fleet.OpenState(open, func(string) { told++ }).Records(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o700 || told != 1 {
		t.Errorf("mode %v, error %v, told %d times; want it tightened and told once", info.Mode(), err, told)
	}

	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var failed *fleet.StateError
	if _, err := fleet.OpenState(file, nil).Start(t.Context(), oneBrick); !errors.As(err, &failed) {
		t.Errorf("error %v, want a *StateError", err)
	}

	for name, text := range map[string]string{
		"brick-1.json": "{",
		"brick-2.json": `{"id": 3}`,
		"brick-4.json": `{"id": 4, "profile": {"name": "x"}}`,
	} {
		path := filepath.Join(open, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var notices []string
		records, err := fleet.OpenState(open, func(what string) { notices = append(notices, what) }).Records()
		if err != nil || len(records) != 0 || len(notices) != 1 || !strings.HasPrefix(notices[0], path) {
			t.Errorf("%s: records %v, error %v, notices %q, want one that names it", name, records, err, notices)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		listen string
		n      int
		want   []string // nil is an error
	}{
		{"127.0.0.1:0", 2, []string{"127.0.0.1:0", "127.0.0.1:0"}},
		{"127.0.0.1:7001", 2, []string{"127.0.0.1:7001", "127.0.0.1:7002"}},
		{"127.8.8.8:65535", 1, []string{"127.8.8.8:65535"}},
		{"[::1]:7001", 1, []string{"[::1]:7001"}},
		{"localhost:0", 1, []string{"localhost:0"}},
		{"127.0.0.1:65535", 2, nil},
		{"127.0.0.1:65536", 1, nil},
		{"127.0.0.1:-1", 1, nil},
		{"127.0.0.1:http", 1, nil},
		{"127.0.0.1", 1, nil},
		{":7001", 1, []string{":7001"}},
		{"0.0.0.0:7001", 1, []string{"0.0.0.0:7001"}},
		{"[::]:7001", 1, []string{"[::]:7001"}},
		{"192.0.2.1:7001", 1, []string{"192.0.2.1:7001"}},
		{"example.com:7001", 1, []string{"example.com:7001"}},
		{"", 1, nil},
	} {
		got, err := fleet.Addresses(tt.listen, tt.n)
		if !slices.Equal(got, tt.want) || (err == nil) != (tt.want != nil) {
			t.Errorf("Addresses(%q, %d) = %q, %v, want %q", tt.listen, tt.n, got, err, tt.want)
		}
	}
}

func TestExposed(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:0": false, "127.8.8.8:1": false, "[::1]:7001": false, "localhost:0": false,
		":7001": true, "0.0.0.0:7001": true, "[::]:7001": true, "192.0.2.1:7001": true, "example.com:7001": true, "localhost": true, "": true,
	} {
		if fleet.Exposed(listen) != want {
			t.Errorf("Exposed(%q) is %t", listen, !want)
		}
	}
}

func TestLastLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var text strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&text, "line %d of many\n", i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"line 399998 of many", "line 399999 of many"}
	if got, err := fleet.LastLines(path, 2); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, error %v, want %q", got, err, want)
	}
	if got, err := fleet.LastLines(path, 1_000_000); err != nil || len(got) < 100_000 {
		t.Errorf("got %d lines, error %v", len(got), err)
	}
	if err := os.WriteFile(path, []byte("no end"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := fleet.LastLines(path, 2); err != nil || !slices.Equal(got, []string{"no end"}) {
		t.Errorf("got %q, error %v", got, err)
	}
}
