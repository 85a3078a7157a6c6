package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// choose decides on the bricks: those that run, or embedded ones, which are not
// started yet. It fills in the plan and reports whether it chose running ones.
func (l *loading) choose(c *cli.Context) (running bool, err error) {
	resumed := c.IsSet("resume")
	if (resumed && !l.plan.Embedded) || (!resumed && l.plan.Bricks == 0) {
		roster, err := fleet.OpenState("", func(what string) { l.say.linef("%s", what) }).Running()
		switch {
		case err != nil:
			return false, err
		case len(roster.Bricks) > 0:
			return true, l.useRunning(roster)
		case len(roster.Dead) > 0:
			return false, deadError(roster.Dead)
		case resumed:
			return false, errors.New("--resume: the run was measured on running bricks, and none run: ssmctl brick start as many as then")
		}
	}
	if l.profile.Name == "" {
		if l.profile, err = profile.ByName(defaultProfile); err != nil {
			return false, err
		}
	}
	if l.plan.Bricks == 0 {
		l.plan.Bricks = defaultBricks
	}
	l.plan.Embedded = true
	return false, l.checkQuorum()
}

func deadError(dead []session.BrickID) error {
	names := make([]string, len(dead))
	for i, id := range dead {
		names[i] = id.String()
	}
	return fmt.Errorf("no bricks reachable: %s ended without being stopped: ssmctl brick restart each, or ssmctl brick stop and use embedded ones",
		strings.Join(names, ", "))
}

// useRunning takes the bricks that brick start has started.
func (l *loading) useRunning(running *fleet.Roster) error {
	if l.profile.Name != "" && !l.profile.Same(&running.Profile) {
		return usagef("--profile: the running bricks have profile %s, and %s differs: leave it out, or ssmctl brick stop first, or use embedded ones by --bricks %d",
			running.Profile.Name, l.profile.Name, defaultBricks)
	}
	if n := l.plan.Bricks; n > 0 && n != len(running.Bricks) {
		return usagef("--resume: the run was measured on %d bricks, %d are running: start as many as then", n, len(running.Bricks))
	}
	l.profile, l.bricks, l.keys = running.Profile, running.Bricks, running.Keys
	l.plan.Bricks = len(l.bricks)
	for _, id := range running.Dead {
		l.say.linef("%s is dead and takes no part: ssmctl brick restart %s", id, id)
	}
	l.say.linef("using %s that run, profile %s (%s)", plural(len(l.bricks), "brick"), l.profile.Name, l.profile.Processor.Kind)
	return l.checkQuorum()
}

func (l *loading) checkQuorum() error {
	l.plan.Profile = l.profile.Name
	if err := quorumOf(&l.plan, l.plan.Bricks); err != nil {
		return usage(err)
	}
	return nil
}

// embed starts the load's own bricks. The function that it returns stops them.
func (l *loading) embed() (stop func() error, err error) {
	cluster, err := fleet.Embedded(l.plan.Bricks, l.profile, protect.On, 0, l.plan.Seed)
	if err != nil {
		return nil, err
	}
	l.bricks = cluster.Bricks()
	l.say.linef("started %d embedded bricks, profile %s (%s); they stop with this load", len(l.bricks), l.profile.Name, l.profile.Processor.Kind)
	return cluster.Close, nil
}
