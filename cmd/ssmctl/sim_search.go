package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(concludeSearch(c, &s), interrupted(err))
}

// interrupted is how a search says that it was.
func interrupted(err error) error {
	if err != nil {
		return coordinator.ErrInterrupted
	}
	return nil
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
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; c.IsSet(name) && !slices.Contains(may, name) {
			return usagef("--%s: leave it out: %s", name, who)
		}
	}
	switch n := c.Int("search"); {
	case c.IsSet("case"):
	case n < 1 || n > maxCases:
		return usagef("--search: %d: choose 1 to %d", n, maxCases)
	case c.String("out") == "":
		return usagef("--out: empty: name a directory, or leave it out")
	}
	return nil
}

func replayCase(c *cli.Context) error {
	name := c.String("case")
	file, err := os.ReadFile(name)
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

// concludeSearch prints what was found, keeps it, and chooses the exit code.
func concludeSearch(c *cli.Context, s *search.Summary) error {
	for i := range s.Findings {
		f := &s.Findings[i]
		replay := "ssmctl sim --case " + c.String("case")
		if !c.IsSet("case") {
			kept, err := keepCase(c.String("out"), &f.Case)
			if err != nil {
				return err
			}
			replay = "ssmctl sim --case " + kept
		}
		if _, err := fmt.Fprintf(c.App.Writer, "%s\n  replay: %s\n\n", f, replay); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(c.App.Writer, summaryOf(s)); err != nil {
		return err
	}
	if n := len(s.Findings); n > 0 {
		return &codeError{exitViolation, fmt.Errorf("%s found: see above", plural(n, "violation"))}
	}
	return nil
}

// keepCase writes a case's file and returns its name.
func keepCase(dir string, one *search.Case) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("%w: name another place with --out", err)
	}
	name := filepath.Join(dir, fmt.Sprintf("case-%d.json", one.Seed))
	f, err := os.Create(name)
	if err != nil {
		return "", fmt.Errorf("%w: name another place with --out", err)
	}
	return name, errors.Join(one.Write(f), f.Close())
}

// summaryOf is a search in a line.
func summaryOf(s *search.Summary) string {
	return fmt.Sprintf("%s, %s events, %s", plural(s.Cases, "case"), humanize.SIWithDigits(float64(s.Events), 1, ""), plural(len(s.Findings), "violation"))
}
