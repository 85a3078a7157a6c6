package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/sim/search"
)

// A violation is printed, kept as a file that can be replayed, and exit 1.
func TestSearchConcludes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	one := search.Draw(17)
	s := search.Summary{Cases: 40, Events: 1_234_567, Findings: []search.Finding{{Drawn: one, Case: one, Violation: search.Violation{
		Invariant: search.Window, Text: "one too many", Trace: []string{"0.1s  it begins", "0.2s  it ends"},
	}}}}
	var out strings.Builder
	app := &cli.App{
		Writer: &out, Flags: append(searchFlags(), outFlag("")), ExitErrHandler: func(*cli.Context, error) {},
		Action: func(c *cli.Context) error { return concludeSearch(c, &s) },
	}
	err := app.Run([]string{"ssmctl", "--out", dir, "--search", "40"})
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
