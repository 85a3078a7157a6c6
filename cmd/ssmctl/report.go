package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/report"
	"github.com/ssmctl/ssmctl/internal/result"
)

const reportHelp = `Shows runs that were measured; without RUN the newest. A RUN is a path, or a name
under --out, of which the beginning is enough if it is unique.

  ssmctl report                          the table of the newest run
  ssmctl report --published              beside the published marks
  ssmctl report --plot curves.svg        load against goodput and failures
  ssmctl report --marks --csv RUN RUN    peak, knee, half and zero of two runs
  ssmctl report --compare OLD NEW        level by level`

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:        "report",
		Usage:       "show what was measured: tables, marks, plots, comparisons",
		ArgsUsage:   "[RUN...]",
		Description: reportHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "csv", Usage: "as CSV"},
			&cli.BoolFlag{Name: "json", Usage: "as JSON"},
			&cli.BoolFlag{Name: "marks", Usage: "peak, knee, half, zero and last level of each curve"},
			&cli.BoolFlag{Name: "published", Usage: "the marks beside those published for SSM"},
			&cli.StringFlag{Name: "compare", Usage: "compare with `RUN`, level by level"},
			&cli.StringFlag{Name: "plot", Usage: "draw the curves into `FILE`.svg or .png"},
			&cli.StringFlag{Name: "html", Usage: "write one self-contained page into `FILE`"},
			outFlag(lookForRuns),
		},
		OnUsageError: onUsageError,
		Action:       showReport,
	}
}

func showReport(c *cli.Context) error {
	if err := checkForms(c); err != nil {
		return err
	}
	runs, err := openRuns(c)
	if err != nil {
		return err
	}
	written := false
	for _, w := range []struct {
		flag   string
		render func(io.Writer) error
	}{
		{"plot", func(w io.Writer) error { return report.Plot(w, c.String("plot"), runs) }},
		{"html", func(w io.Writer) error { return report.HTML(w, runs) }},
	} {
		if name := c.String(w.flag); name != "" {
			if err := writeFile(name, w.render); err != nil {
				return reportError(err)
			}
			written = true
			if _, err := fmt.Fprintf(c.App.ErrWriter, "ssmctl: wrote %s\n", name); err != nil {
				return err
			}
		}
	}
	if written && !c.Bool("csv") && !c.Bool("json") && !c.Bool("marks") && !c.Bool("published") && c.String("compare") == "" {
		return nil
	}
	return reportError(renderText(c, runs))
}

// checkForms refuses flags that contradict each other, before anything is read.
func checkForms(c *cli.Context) error {
	forms := 0
	for _, name := range []string{"marks", "published", "compare"} {
		if c.IsSet(name) {
			forms++
		}
	}
	switch {
	case c.Bool("csv") && c.Bool("json"):
		return usagef("--csv, --json: choose one")
	case forms > 1:
		return usagef("--marks, --published, --compare: choose one")
	case (c.IsSet("published") || c.IsSet("compare")) && (c.Bool("csv") || c.Bool("json")):
		return usagef("--csv, --json: only levels and --marks have them: leave --published and --compare out")
	case c.IsSet("plot"):
		return reportError(report.CheckPlotName(c.String("plot")))
	}
	return nil
}

func renderText(c *cli.Context, runs []*result.Run) error {
	out := c.App.Writer
	switch {
	case c.Bool("marks") && c.Bool("csv"):
		return report.MarksCSV(out, runs)
	case c.Bool("marks") && c.Bool("json"):
		return report.MarksJSON(out, runs)
	case c.Bool("marks"):
		return report.Marks(out, runs)
	case c.Bool("published"):
		return report.Published(out, runs)
	case c.IsSet("compare"):
		return compareRuns(c, runs)
	}
	return renderLevels(c, runs)
}

// renderLevels prints levels in the form that --csv or --json ask for, or as a table.
func renderLevels(c *cli.Context, runs []*result.Run) error {
	switch {
	case c.Bool("csv"):
		return report.CSV(c.App.Writer, runs)
	case c.Bool("json"):
		return report.JSON(c.App.Writer, runs)
	}
	return report.Table(c.App.Writer, runs)
}

func compareRuns(c *cli.Context, runs []*result.Run) error {
	if len(runs) != 1 {
		return usagef("--compare: one RUN beside the one to compare with, not %d", len(runs))
	}
	base, err := openRun(c, c.String("compare"))
	if err != nil {
		return err
	}
	return report.Compare(c.App.Writer, base, runs[0])
}

// openRuns opens the runs named, or the newest.
func openRuns(c *cli.Context) ([]*result.Run, error) {
	if c.NArg() == 0 {
		e, damaged, err := result.Latest(c.String("out"))
		if err != nil {
			return nil, findError(err)
		}
		for _, why := range damaged {
			if err := sayf(c, "passed over, though it may be newer: %v", why); err != nil {
				return nil, err
			}
		}
		run, err := result.Open(e.Path)
		if err != nil {
			return nil, err
		}
		return []*result.Run{run}, nil
	}
	var runs []*result.Run
	for _, name := range c.Args().Slice() {
		run, err := openRun(c, name)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

func openRun(c *cli.Context, name string) (*result.Run, error) {
	e, err := result.Find(c.String("out"), name)
	if err == nil {
		return result.Open(e.Path)
	}
	run, openErr := result.Open(name) // a directory whose name is not that of a run
	switch {
	case openErr == nil:
		return run, nil
	case errors.Is(openErr, fs.ErrNotExist): // what name means is best said by who looked for it
		return nil, findError(err)
	}
	return nil, openErr
}

// findError makes a name that fits no run an error of usage. A run that is there and damaged is none.
func findError(err error) error {
	if errors.As(err, new(*result.DamagedError)) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return usage(err)
}

// writeFile writes a file whole or not at all.
func writeFile(name string, render func(io.Writer) error) error {
	f, err := renameio.NewPendingFile(name, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("%s: %w: name another file", name, err)
	}
	defer func() { _ = f.Cleanup() }() // nothing is left of it once it is replaced
	if err := render(f); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("%s: %w: name another file", name, err)
	}
	return nil
}

// reportError makes what the caller can mend an error of usage.
func reportError(err error) error {
	var mend *report.Error
	if errors.As(err, &mend) {
		return usage(err)
	}
	return err
}
