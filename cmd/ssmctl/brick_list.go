package main

import (
	"time"

	"github.com/urfave/cli/v2"
)

const brickListHelp = `Lists the bricks with what they hold and do. Rates are taken over one second.

state is up, dead (ended without being stopped: ssmctl brick restart ID) or
no answer (the process runs, but does not reply). What is not known is empty.
With --hosts there is a column for the host, and unreachable is a state too; exit
code 4 if a host is.

  ssmctl brick list
  ssmctl brick list --hosts lab.yaml
  ssmctl brick list --csv | cut -d, -f1,4,10`

// rateOver is how far apart the two looks are of which a rate is the difference.
const rateOver = time.Second

func brickListCommand() *cli.Command {
	return &cli.Command{
		Name:        "list",
		Usage:       "show what the bricks hold and serve",
		Description: brickListHelp,
		Flags: clusterFlags(
			&cli.BoolFlag{Name: "csv", Usage: "as CSV"},
			&cli.BoolFlag{Name: "json", Usage: "as JSON"},
		),
		OnUsageError: onUsageError,
		Action:       brickList,
	}
}

func brickList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if c.Bool("csv") && c.Bool("json") {
		return usagef("--csv, --json: choose one")
	}
	if c.IsSet("hosts") {
		return listOnHosts(c)
	}
	records, err := openState(c).Records()
	if err != nil {
		return err
	}
	if len(records) == 0 {
		if err := sayf(c, noBricks); err != nil {
			return err
		}
	}
	rows, err := lookTwice(c.Context, records)
	if err != nil {
		return err
	}
	return renderBricks(c, rows)
}
