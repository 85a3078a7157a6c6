package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/fleet/cluster"
)

const brickStopHelp = `Stops the bricks named, or all. What they hold is lost. A brick that does not stop
within 3 s is killed. Only a process that is proven to be the brick is signalled.

With --hosts and no ID everything of the cluster is removed from its hosts.

  ssmctl brick stop                 # all
  ssmctl brick stop brick-2 5       # two of them`

func brickStopCommand() *cli.Command {
	return &cli.Command{
		Name:         "stop",
		Usage:        "stop bricks",
		ArgsUsage:    "[ID...]",
		Description:  brickStopHelp,
		Flags:        clusterFlags(&cli.BoolFlag{Name: "json", Usage: "print what ended as JSON"}),
		OnUsageError: onUsageError,
		Action:       brickStop,
	}
}

func brickStop(c *cli.Context) error {
	ids, err := brickIDs(c)
	if err != nil {
		return err
	}
	if c.IsSet("hosts") {
		return stopOnHosts(c, ids)
	}
	records, err := openState(c).Stop(c.Context, ids...)
	ended := make([]cluster.Ended, len(records))
	for i := range records {
		ended[i] = cluster.Ended{ID: records[i].ID.String(), How: string(records[i].How)}
	}
	return renderEnded(c, ended, err)
}

func renderEnded(c *cli.Context, ended []cluster.Ended, err error) error {
	if c.Bool("json") {
		return errors.Join(brickError(err), json.NewEncoder(c.App.Writer).Encode(ended))
	}
	for _, e := range ended {
		where := ""
		if e.Host != "" {
			where = " on " + e.Host
		}
		if e := sayf(c, "%s%s %s", e.ID, where, e.How); e != nil {
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
		Name:        "restart",
		Usage:       "start a brick again at the same address",
		ArgsUsage:   "ID",
		Description: brickRestartHelp,
		Flags: clusterFlags(
			&cli.BoolFlag{Name: "json", Usage: "as JSON"},
			&cli.StringFlag{Name: "protection", Hidden: true, Usage: "that of the other bricks, which are elsewhere"},
		),
		OnUsageError: onUsageError,
		Action:       brickRestart,
	}
}

func brickRestart(c *cli.Context) error {
	id, err := oneBrick(c)
	if err != nil {
		return err
	}
	if c.IsSet("hosts") {
		return restartOnHosts(c, id)
	}
	r, err := openState(c).RestartUnder(c.Context, id, c.String("protection"))
	if err != nil {
		return brickError(err)
	}
	return renderStarted(c, startedRows("", fleet.StartedOf([]fleet.Record{r})))
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
		Flags:        clusterFlags(&cli.IntFlag{Name: "lines", Value: 100, Usage: "print so many"}),
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
	if c.IsSet("hosts") {
		return logsOnHosts(c, id)
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
