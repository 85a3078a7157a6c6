package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/sim"
)

const simHelp = `Does what load does, in virtual time: the same bricks, stubs and users over a model
of a network, many times faster than live and on all cores. The same flags give the
same run, byte for byte, on any machine; another --seed gives another.

  ssmctl sim --machines 1-45 --protection off,on      # Figures 8 and 9
  ssmctl sim --machines 37,100,1000 --duration 10s    # more than this machine could load
  ssmctl sim --scenario surge --policy aimd,paced     # who comes back from overload, and when
  ssmctl report --published                           # beside the published marks

` + planWords + `
Levels are 30s after a warm-up of 5s unless set.
The profile must emulate a processor: without costs there is nothing to simulate.

A run is called after what it is, and simulating it again replaces it.

Exit codes: 0 done, 1 a --fail-if held, 2 usage, 3 measurement invalid (with
--strict), 4 infrastructure, 130 interrupted (levels that are done are kept).`

// simUsage is what the plan flags mean in virtual time.
var simUsage = planUsage{
	duration:       30 * time.Second,
	durationText:   "simulate each level so long",
	warmupText:     "load each level so long before it counts",
	protection:     protect.On.String(),
	protectionText: "`LIST` of " + protect.SettingChoice(),
	profile:        defaultProfile,
	profileText:    "system under test: a `NAME` of ssmctl profile list, or a YAML file",
	bricks:         defaultBricks,
	bricksText:     "how many bricks",
	seedText:       "of all randomness",
}

func simCommand() *cli.Command {
	return &cli.Command{
		Name:         "sim",
		Usage:        "the same in virtual time: figures in seconds, the same bytes for the same seed",
		Description:  simHelp + policiesHelp() + faultsHelp() + scenariosHelp() + searchHelp,
		Flags:        slices.Concat(planFlags(simUsage), watchFlags(), outcomeFlags(), searchFlags()),
		OnUsageError: onUsageError,
		Action:       simulate,
	}
}

// simulating is one call of sim.
type simulating struct{ measuring }

func simulate(c *cli.Context) error {
	if searches(c) {
		return searchCases(c)
	}
	s := &simulating{measuring{say: newProgress(c.App.ErrWriter, c.Bool("quiet"))}}
	if err := s.check(c); err != nil {
		return err
	}
	var err error
	if s.dir, err = result.Create(c.String("out"), simManifestOf(&s.plan, &s.profile)); err != nil {
		return err
	}
	return s.conclude(c, s.measure(c.Context))
}

func (s *simulating) check(c *cli.Context) (err error) {
	if err := checkForm(c); err != nil {
		return err
	}
	if s.plan, err = planOf(c); err != nil {
		return err
	}
	s.plan.Watch = watches(c, &s.plan)
	if s.conditions, err = conditionsOf(c, &s.plan); err != nil {
		return err
	}
	if s.profile, err = loadProfile(c.String("profile")); err != nil {
		return usagef("--profile: %w", err)
	}
	if !s.profile.Processor.Emulated() {
		return usagef("--profile: the bricks of %s are %s, and only an emulated processor has costs to simulate: choose %s, or one of your own",
			s.profile.Name, s.profile.Processor.Kind, defaultProfile)
	}
	s.plan.Profile = s.profile.Name
	s.faults, err = chaos.ParseAll(s.plan.Faults)
	return err
}

func (s *simulating) measure(ctx context.Context) error {
	cfg := &sim.Config{Plan: s.plan, Profile: s.profile, Run: s.dir.Manifest().Run, Faults: s.faults, Watch: s.plan.Watch}
	s.say.begin(&s.plan, 0, "virtual time")
	defer s.say.end()
	err := sim.Run(ctx, cfg, func(level result.Level) error {
		for _, second := range level.Seconds {
			s.say.second(loadgen.Point{Machines: second.Machines}, second)
		}
		return s.sink(level)
	})
	if errors.Is(err, context.Canceled) {
		return coordinator.ErrInterrupted
	}
	return err
}
