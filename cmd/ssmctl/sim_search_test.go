package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/sim/search"
)

// concluded runs a search's end as its command would.
func concluded(s *search.Summary, out io.Writer, dir string) error {
	app := &cli.App{
		Writer: out, Flags: append(searchFlags(), outFlag("")), ExitErrHandler: func(*cli.Context, error) {},
		Action: func(c *cli.Context) error { return concludeSearch(c, s) },
	}
	return app.Run([]string{"ssmctl", "--out", dir, "--search", "40"})
}

// A violation that cannot be kept, or not be printed, is exit 1 all the same, and the other is done.
func TestSearchConcludesInTrouble(t *testing.T) {
	one := search.Draw(17)
	s := search.Summary{Cases: 40, Events: 12, Findings: []search.Finding{{Drawn: one, Case: one, Violation: search.Violation{
		Invariant: search.Window, Text: "one too many", Trace: []string{"0.1s  it begins"},
	}}}}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := concluded(&s, &out, file)
	if exitCode(err) != exitViolation || !strings.Contains(err.Error(), "seed 17 was not kept: ") || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "--out") {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"seed 17 breaks window: ", "0.1s  it begins", "replay: ssmctl sim --search 1 --seed 17\n", "\n40 cases, 12 events, 1 violation\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	dir := t.TempDir()
	err = concluded(&s, brokenWriter{}, dir)
	if _, there := os.Stat(filepath.Join(dir, "case-17.json")); exitCode(err) != exitViolation || there != nil {
		t.Errorf("error %v; kept: %v", err, there)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

// Who has left misses nothing; any other failure of an output is told.
func TestLeavable(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := (leavable{w}).Write([]byte("abc")); n != 3 || err != nil {
		t.Errorf("to nobody: %d, error %v", n, err)
	}
	if _, err := (leavable{brokenWriter{}}).Write([]byte("abc")); err == nil {
		t.Error("a full disk is not told")
	}
}

// A violation is printed, kept as a file that can be replayed, and exit 1.
func TestSearchConcludes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	one := search.Draw(17)
	s := search.Summary{Cases: 40, Events: 1_234_567, Findings: []search.Finding{{Drawn: one, Case: one, Violation: search.Violation{
		Invariant: search.Window, Text: "one too many", Trace: []string{"0.1s  it begins", "0.2s  it ends"},
	}}}}
	var out strings.Builder
	err := concluded(&s, &out, dir)
	if code := exitCode(err); code != 1 {
		t.Errorf("exit code %d of %v, want 1", code, err)
	}
	name := filepath.Join(dir, "case-17.json")
	for _, want := range []string{
		"seed 17 breaks window: ", "one too many", "schedule: ", "0.2s  it ends", "ssmctl sim --case " + name,
		"\n40 cases, 1.2 M events, 1 violation\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := search.Read(bytes.NewReader(file)); err != nil || kept.String() != one.String() {
		t.Errorf("kept %v, error %v", &kept, err)
	}
}
