package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/loadgen/agent"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
)

// agentCommand is what load starts on every host; people do not call it.
func agentCommand() *cli.Command {
	return &cli.Command{
		Name:         "agent",
		Usage:        "run load machines as told over standard input",
		Hidden:       true,
		Flags:        placeFlags(&cli.BoolFlag{Name: "reserve", Usage: "refuse a host that another load uses"}),
		OnUsageError: onUsageError,
		Action:       runAgent,
	}
}

func runAgent(c *cli.Context) error {
	if place := placeOf(c); place != nil {
		leave, err := place.Enlist(c.Bool("reserve"))
		if err != nil { // for who leads the load to tell
			return errors.Join(err, message.NewWriter(c.App.Writer).Write(message.Report{Failed: err.Error()}))
		}
		defer leave()
	}
	return agent.Run(c.Context, c.App.Reader, c.App.Writer)
}
