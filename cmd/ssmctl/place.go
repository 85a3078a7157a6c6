package main

import (
	"encoding/json"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet"
)

// placeFlags are those by which another ssmctl tells this one, on a host, whose bricks and
// agents its command is about; people do not give them.
func placeFlags(more ...cli.Flag) []cli.Flag {
	return append(slices.Clip(more),
		&cli.StringFlag{Name: "cluster", Hidden: true, Usage: "what is done is of this cluster"},
		&cli.StringFlag{Name: "host", Hidden: true, Usage: "its inventory has this name for this host"},
	)
}

// placeOf returns the cluster's place on this host; nil if none was named.
func placeOf(c *cli.Context) *fleet.Place {
	if c.String("cluster") == "" && c.String("host") == "" {
		return nil
	}
	return &fleet.Place{Cluster: c.String("cluster"), Host: c.String("host")}
}

// sweepCommand is what clean runs on every host; people do not call it.
func sweepCommand() *cli.Command {
	return &cli.Command{
		Name:   "sweep",
		Usage:  "remove everything of a cluster from this host",
		Hidden: true,
		Flags: placeFlags(
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what there is"},
			&cli.BoolFlag{Name: "list", Usage: "say which clusters have something here"},
		),
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			place := placeOf(c)
			if place == nil {
				return usagef("sweep: this is what ssmctl clean runs on a host: run that instead")
			}
			if c.Bool("list") {
				ids, err := place.Clusters()
				if err != nil {
					return err
				}
				return json.NewEncoder(c.App.Writer).Encode(ids)
			}
			swept, err := place.Sweep(c.Context, c.Bool("dry-run"))
			if err != nil {
				return err
			}
			return json.NewEncoder(c.App.Writer).Encode(swept)
		},
	}
}
