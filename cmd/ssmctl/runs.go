package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/report"
	"github.com/ssmctl/ssmctl/internal/result"
)

// defaultRuns is where runs are kept unless --out names another place.
const defaultRuns = "runs"

func outFlag(use string) *cli.StringFlag {
	return &cli.StringFlag{Name: "out", Value: defaultRuns, Usage: use}
}

const lookForRuns = "look for runs in `DIR`"

func runsCommand() *cli.Command {
	return &cli.Command{
		Name:  "runs",
		Usage: "list or remove the runs that were measured",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list runs, the oldest first",
				Flags: []cli.Flag{outFlag(lookForRuns)}, OnUsageError: onUsageError, Action: runsList,
			},
			{
				Name: "rm", Usage: "remove runs with all that they hold", ArgsUsage: "RUN...",
				Flags: []cli.Flag{outFlag(lookForRuns)}, OnUsageError: onUsageError, Action: runsRemove,
			},
		},
		OnUsageError: onUsageError,
		Action:       unknownSubcommand,
	}
}

func runsList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	entries, damaged, err := result.List(c.String("out"))
	if err != nil {
		return err
	}
	for _, why := range damaged {
		if err := sayf(c, "passed over: %v", why); err != nil {
			return err
		}
	}
	if len(entries) == 0 {
		return sayf(c, "no runs in %s: ssmctl load and ssmctl sim make them", c.String("out"))
	}
	table := report.Grid{
		Header: []string{"run", "started", "state", "mode", "profile", "machines", "protection", "levels"},
		Left:   []bool{true, true, true, true, true, true, true},
	}
	for _, e := range entries {
		m, state, levels := &e.Manifest, string(e.State), strconv.Itoa(e.Levels)
		if r, err := result.Open(e.Path); err != nil {
			state = "damaged"
			if err := sayf(c, "%v: ssmctl runs rm %s removes it", err, m.Run); err != nil {
				return err
			}
		} else {
			levels = strconv.Itoa(len(r.Rows))
		}
		table.Add(m.Run, e.Started.Format(time.DateTime), state, m.Mode, m.Profile.Name,
			levelsText(m.Plan.Machines), orAsFound(m.Plan.Protection), levels)
	}
	return table.Write(c.App.Writer)
}

// levelsText writes levels shortly: all of a few, the ends of many.
func levelsText(levels []int) string {
	const few = 5
	if n := len(levels); n > few {
		return fmt.Sprintf("%d..%d (%d levels)", levels[0], levels[n-1], n)
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(levels), " ", ","), "[]")
}

func orAsFound(protection []string) string {
	if len(protection) == 0 {
		return "as found"
	}
	return strings.Join(protection, ",")
}

func runsRemove(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("runs rm: name the runs to remove: ssmctl runs list shows them")
	}
	var found []result.Entry
	for _, name := range c.Args().Slice() {
		e, err := result.Find(c.String("out"), name)
		if err != nil {
			return findError(err)
		}
		found = append(found, e)
	}
	for _, e := range found {
		if err := result.Remove(e.Path); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.App.ErrWriter, "ssmctl: removed %s\n", e.Path); err != nil {
			return err
		}
	}
	return nil
}
