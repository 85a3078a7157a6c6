package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/session"
)

const brickHelp = `A brick is one server of the store: a process that outlives this command and
keeps states in its memory. Bricks are numbered from 1 and are recorded, each with
its log, in $XDG_STATE_HOME/ssmctl/bricks.

  ssmctl brick start --count 8      # eight bricks of the published testbed
  ssmctl brick list                 # what they hold and serve
  ssmctl brick restart brick-3      # same address, empty memory
  ssmctl brick stop                 # all of them

With --hosts FILE they start on the hosts of an inventory (docs/hosts.md), and the
other commands with the same --hosts are about those.`

func brickCommand() *cli.Command {
	return &cli.Command{
		Name:        "brick",
		Usage:       "start, list and stop the bricks of the store",
		Description: brickHelp,
		Subcommands: []*cli.Command{
			brickStartCommand(), brickListCommand(), brickStopCommand(),
			brickRestartCommand(), brickLogsCommand(), brickServeCommand(),
		},
		OnUsageError: onUsageError,
		Action:       unknownSubcommand,
	}
}

// brickServeCommand is what brick start runs for each brick; people do not call it.
func brickServeCommand() *cli.Command {
	return &cli.Command{
		Name:         "serve",
		Usage:        "be one brick, as told over inherited pipes",
		Hidden:       true,
		Flags:        []cli.Flag{&cli.StringFlag{Name: "run", Usage: "tells this process from all others"}},
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			err := fleet.ServeDaemon(c.Context, c.App.ErrWriter)
			if errors.Is(err, fleet.ErrNotStarted) {
				return usage(err)
			}
			return err
		},
	}
}

// openState is where bricks of this machine are recorded: those of its user, or, on a host
// of a cluster, the cluster's.
func openState(c *cli.Context) *fleet.State {
	if place := placeOf(c); place != nil {
		return place.State(noticesOf(c))
	}
	return fleet.OpenState("", noticesOf(c))
}

// noticesOf tells what is done unasked.
func noticesOf(c *cli.Context) func(string) {
	return func(notice string) { _ = sayf(c, "%s", notice) } // whether it is read does not change what is done
}

// noBricks is said where bricks are needed and none are recorded.
const noBricks = "no bricks are running: ssmctl brick start --count 8"

// sayf writes a message for people, apart from the result.
func sayf(c *cli.Context, format string, args ...any) error {
	_, err := fmt.Fprintf(c.App.ErrWriter, "ssmctl: "+format+"\n", args...)
	return err
}

// brickIDs reads arguments that name bricks.
func brickIDs(c *cli.Context) ([]session.BrickID, error) {
	ids := make([]session.BrickID, c.NArg())
	for i, arg := range c.Args().Slice() {
		var err error
		if ids[i], err = session.ParseBrickID(arg); err != nil {
			return nil, usagef("%s: %w", verb(c), err)
		}
	}
	return ids, nil
}

// oneBrick reads the only argument, which names a brick.
func oneBrick(c *cli.Context) (session.BrickID, error) {
	if c.NArg() != 1 {
		return 0, usagef("%s: name one brick: ssmctl brick list shows them", verb(c))
	}
	ids, err := brickIDs(c)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// brickError makes a brick that does not exist an error of usage.
func brickError(err error) error {
	var unknown *fleet.UnknownError
	if errors.As(err, &unknown) {
		return usage(err)
	}
	return err
}
