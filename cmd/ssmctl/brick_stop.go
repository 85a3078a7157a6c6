package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet"
)

const brickStopHelp = `Stops the bricks named, or all. What they hold is lost. A brick that does not stop
within 3 s is killed. Only a process that is proven to be the brick is signalled.

  ssmctl brick stop                 # all
  ssmctl brick stop brick-2 5       # two of them`

func brickStopCommand() *cli.Command {
	return &cli.Command{
		Name:         "stop",
		Usage:        "stop bricks",
		ArgsUsage:    "[ID...]",
		Description:  brickStopHelp,
		OnUsageError: onUsageError,
		Action:       brickStop,
	}
}

func brickStop(c *cli.Context) error {
	ids, err := brickIDs(c)
	if err != nil {
		return err
	}
	ended, err := openState(c).Stop(c.Context, ids...)
	for i := range ended {
		if e := sayf(c, "%s %s", ended[i].ID, ended[i].How); e != nil {
			return errors.Join(err, e)
		}
	}
	if err == nil && len(ended) == 0 {
		return sayf(c, "no bricks are running: nothing to stop")
	}
	return brickError(err)
}

const brickRestartHelp = `Starts a brick again, crashed or running, with the id, address, profile and bounds
that it had. Its memory is empty then. It takes on the protection of the others.

  ssmctl brick restart brick-3`

func brickRestartCommand() *cli.Command {
	return &cli.Command{
		Name:         "restart",
		Usage:        "start a brick again at the same address",
		ArgsUsage:    "ID",
		Description:  brickRestartHelp,
		OnUsageError: onUsageError,
		Action:       brickRestart,
	}
}

func brickRestart(c *cli.Context) error {
	id, err := oneBrick(c)
	if err != nil {
		return err
	}
	r, err := openState(c).Restart(c.Context, id)
	if err != nil {
		return brickError(err)
	}
	return renderStarted(c, []fleet.Record{r})
}

const brickLogsHelp = `Prints the end of a brick's log. It is kept after the brick is stopped, until another
one takes its id.

  ssmctl brick logs brick-3
  ssmctl brick logs --lines 1000 brick-3`

func brickLogsCommand() *cli.Command {
	return &cli.Command{
		Name:         "logs",
		Usage:        "print the end of a brick's log",
		ArgsUsage:    "ID",
		Description:  brickLogsHelp,
		Flags:        []cli.Flag{&cli.IntFlag{Name: "lines", Value: 100, Usage: "print so many"}},
		OnUsageError: onUsageError,
		Action:       brickLogs,
	}
}

func brickLogs(c *cli.Context) error {
	id, err := oneBrick(c)
	if err != nil {
		return err
	}
	if c.Int("lines") < 1 {
		return usagef("--lines: %d is not a number of lines: give 1 or more", c.Int("lines"))
	}
	lines, err := openState(c).LogLines(id, c.Int("lines"))
	if err != nil {
		return brickError(err)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(c.App.Writer, line); err != nil {
			return err
		}
	}
	return nil
}
