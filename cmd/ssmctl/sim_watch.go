package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/result"
)

// watchFlags say whether simulated bricks are looked after.
func watchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "watch", Usage: "watch the bricks as ssmctl watch --repair does, and restart one that is at fault"},
	}
}

// watches reports whether the bricks of a plan are watched: by the flag, or by its scenario.
func watches(c *cli.Context, p *result.Plan) bool {
	if c.IsSet("watch") {
		return c.Bool("watch")
	}
	s, err := chaos.ScenarioByName(p.Scenario)
	return err == nil && s.Watch
}

// watchParameters lists what a plan without a watch does not have.
func watchParameters(p *result.Plan) []result.Parameter {
	if !p.Watch {
		return nil
	}
	source := "flag"
	if s, err := chaos.ScenarioByName(p.Scenario); err == nil && s.Watch {
		source = scenarioSource(p)
	}
	return []result.Parameter{{Name: "watch", Value: fmt.Sprint(p.Watch), Source: source}}
}
