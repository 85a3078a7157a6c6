package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/sim/search"
)

const searchHelp = `

--search N looks for faults in the code instead: it draws N small systems, loads and
schedules of faults from the seeds S, S+1 ... of --seed S, runs them on all cores and checks that what the
store promises holds. What breaks a promise is shrunk, printed and kept as a file:

  ssmctl sim --search 1000                            # seeds 1 to 1000
  ssmctl sim --search 1 --seed 17                     # seed 17 alone
  ssmctl sim --case runs/case-17.json                 # what was kept of it

Exit codes of a search: 0 nothing found, 1 a violation was found, 2 usage, 4
infrastructure, 130 interrupted.`

// maxCases bounds a search.
const maxCases = 100_000_000

// progressEvery is how long a search says nothing.
const progressEvery = 10 * time.Second

func searchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "search", Usage: "draw `N` systems and schedules of faults, and check what must hold"},
		&cli.StringFlag{Name: "case", Usage: "run a case that a search has kept, from `FILE`"},
	}
}

// searches reports whether the call is one of a search.
func searches(c *cli.Context) bool { return c.IsSet("search") || c.IsSet("case") }

func searchCases(c *cli.Context) error {
	if err := checkSearch(c); err != nil {
		return err
	}
	if c.IsSet("case") {
		return replayCase(c)
	}
	say := newProgress(c.App.ErrWriter, c.Bool("quiet"))
	total, first := c.Int("search"), c.Uint64("seed")
	say.linef("%s, from seed %d on", plural(total, "case"), first)
	step, shown := max(1, total/10), time.Now()
	s, err := search.Search(c.Context, first, total, func(s *search.Summary) {
		if s.Cases < total && (s.Cases%step == 0 || time.Since(shown) > progressEvery) {
			say.linef("%d/%d: %s", s.Cases, total, plural(len(s.Findings), "violation"))
			shown = time.Now()
		}
	})
	if errors.Is(err, context.Canceled) {
		err = coordinator.ErrInterrupted
	}
	return errors.Join(concludeSearch(c, &s), err) // what was found chooses the exit code
}

// checkSearch refuses what a search draws by itself.
func checkSearch(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	may, who := []string{"search", "seed", "out", "quiet"}, "a search draws its cases from --seed, and takes --out and --quiet"
	if c.IsSet("case") {
		may, who = []string{"case", "quiet"}, "a case says all by itself"
	}
	if c.IsSet("case") && c.IsSet("search") {
		return usagef("--search, --case: choose one: the first draws cases, the second runs one that was kept")
	}
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; c.IsSet(name) && !slices.Contains(may, name) {
			return usagef("--%s: leave it out: %s", name, who)
		}
	}
	switch n := c.Int("search"); {
	case c.IsSet("case") && c.String("case") == "":
		return usagef("--case: empty: name the file of a case")
	case c.IsSet("case"):
	case n < 1 || n > maxCases:
		return usagef("--search: %d: choose 1 to %d", n, maxCases)
	case c.String("out") == "":
		return usagef("--out: empty: name a directory, or leave it out")
	default:
		return checkKeeping(c.String("out"))
	}
	return nil
}

// checkKeeping makes sure before a search that what it finds can be kept, and leaves nothing.
func checkKeeping(dir string) error {
	there := filepath.Clean(dir)
	for {
		_, err := os.Stat(there)
		if !errors.Is(err, fs.ErrNotExist) || there == filepath.Dir(there) {
			break
		}
		there = filepath.Dir(there)
	}
	f, err := os.CreateTemp(there, ".case-*")
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err // of a file that the user did not name
		}
		return fmt.Errorf("--out: %s cannot be written: %w: name another place", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func replayCase(c *cli.Context) error {
	name := c.String("case")
	file, err := readFile(name)
	if err != nil {
		return usagef("--case: %w", err)
	}
	one, err := search.Read(bytes.NewReader(file))
	if err != nil {
		return usagef("--case: %s: %w", name, err)
	}
	v, events, err := search.Run(c.Context, &one)
	switch {
	case errors.Is(err, context.Canceled):
		return coordinator.ErrInterrupted
	case err != nil:
		return err
	}
	s := search.Summary{Cases: 1, Events: events}
	if v != nil {
		s.Findings = []search.Finding{{Drawn: one, Case: one, Violation: *v}}
	}
	return concludeSearch(c, &s)
}

// concludeSearch prints what was found, keeps it, and chooses the exit code. Neither is left
// out because the other fails.
func concludeSearch(c *cli.Context, s *search.Summary) error {
	var errs []error
	if n := len(s.Findings); n > 0 {
		errs = append(errs, &codeError{exitViolation, fmt.Errorf("%s found: see above", plural(n, "violation"))})
	}
	say := func(format string, args ...any) {
		if _, err := fmt.Fprintf(c.App.Writer, format, args...); err != nil {
			errs = append(errs, err)
		}
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		say("%s\n", f)
		replay, err := replayOf(c, f)
		if err != nil {
			errs = append(errs, err)
		}
		say("  replay: ssmctl sim %s\n\n", replay)
	}
	say("%s\n", summaryOf(s))
	return errors.Join(errs...)
}

// replayOf keeps a finding, unless it has a file, and returns the flags that run it again.
func replayOf(c *cli.Context, f *search.Finding) (string, error) {
	if c.IsSet("case") {
		return "--case " + c.String("case"), nil
	}
	kept, err := keepCase(c.String("out"), &f.Case)
	if err != nil {
		return fmt.Sprintf("--search 1 --seed %d", f.Drawn.Seed), err
	}
	return "--case " + kept, nil
}

// keepCase writes a case's file and returns its name.
func keepCase(dir string, one *search.Case) (string, error) {
	name := filepath.Join(dir, fmt.Sprintf("case-%d.json", one.Seed))
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = writeFile(name, one.Write)
	}
	if err != nil {
		return "", fmt.Errorf("the case of seed %d was not kept: %w: choose another --out", one.Seed, err)
	}
	return name, nil
}

// summaryOf is a search in a line.
func summaryOf(s *search.Summary) string {
	events := strings.TrimSpace(humanize.SIWithDigits(float64(s.Events), 1, "")) // it leaves a place for the unit
	return fmt.Sprintf("%s, %s events, %s", plural(s.Cases, "case"), events, plural(len(s.Findings), "violation"))
}
