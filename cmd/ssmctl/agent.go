package main

import (
	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/loadgen/agent"
)

// agentCommand is what load starts on every host; people do not call it.
func agentCommand() *cli.Command {
	return &cli.Command{
		Name:         "agent",
		Usage:        "run load machines as told over standard input",
		Hidden:       true,
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			return agent.Run(c.Context, c.App.Reader, c.App.Writer)
		},
	}
}
