package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// loading is one call of load, between the flags and the result.
type loading struct {
	measuring
	bricks []remote.Brick
	keys   *secure.Keys // to speak with them; nil is plaintext
	skip   int          // points of the plan that a resumed run has
	source string       // inventory of the hosts that it runs on; empty is this machine
	agents []coordinator.Agent
	lose   bool // go on without hosts that are lost
}

func load(c *cli.Context) (err error) {
	l := &loading{measuring: measuring{say: newProgress(c.App.ErrWriter, c.Bool("quiet"))}}
	if err := l.check(c); err != nil {
		return err
	}
	if l.source != "" {
		return l.onHosts(c)
	}
	running, err := l.choose(c)
	if err != nil {
		return err
	}
	if running {
		release, err := fleet.OpenState("", nil).Occupy()
		if err != nil {
			return err
		}
		defer release()
	}
	if err := l.open(c); err != nil {
		return err
	}
	if !running {
		stop, err := l.embed()
		if err != nil {
			return err
		}
		defer func() { _ = stop() }() // embedded bricks that fail have failed the load
	}
	return l.conclude(c, l.measureHere(c.Context))
}

// check reads everything of the command line that needs no look at the bricks.
func (l *loading) check(c *cli.Context) (err error) {
	if err := checkForm(c); err != nil {
		return err
	}
	if err := l.checkHosts(c); err != nil {
		return err
	}
	if c.IsSet("resume") {
		err = l.resume(c)
	} else {
		l.plan, err = planOf(c)
	}
	if err != nil {
		return err
	}
	if l.faults, err = chaos.ParseAll(l.plan.Faults); err != nil {
		return err
	}
	if err := liveFaults(l.faults); err != nil {
		return err
	}
	if l.conditions, err = conditionsOf(c, &l.plan); err != nil {
		return err
	}
	if c.IsSet("profile") {
		if l.profile, err = loadProfile(c.String("profile")); err != nil {
			return usagef("--profile: %w", err)
		}
	}
	return nil
}

// open makes the run directory, or opens the one to resume.
func (l *loading) open(c *cli.Context) (err error) {
	if c.IsSet("resume") {
		l.dir, err = result.Resume(l.resumePath(c), l.skip)
		return err
	}
	l.dir, err = result.Create(c.String("out"), manifestOf(&l.plan, &l.profile))
	return err
}

// measureHere runs the plan on agents of this machine.
func (l *loading) measureHere(ctx context.Context) (err error) {
	for range min(runtime.NumCPU(), l.mostMachines()) {
		a, startErr := fleet.StartAgent(l.say.err, "agent")
		if startErr != nil {
			return startErr
		}
		defer func() { err = inOneLine(err, a.Close()) }()
		l.agents = append(l.agents, coordinator.Agent{Host: "localhost", In: a.In, Out: a.Out})
	}
	return l.measure(ctx, nil)
}

// mostMachines is how many load machines there are at the highest level, with those of a surge.
func (l *loading) mostMachines() int {
	return l.plan.Machines[len(l.plan.Machines)-1] + chaos.Surges(l.faults)
}

// measure runs the plan on the agents. The trips are told how far each of them is; nil is
// for agents that are near.
func (l *loading) measure(ctx context.Context, trips func(string, time.Duration)) (err error) {
	cfg := coordinator.Config{
		Plan: l.plan, Profile: l.profile, Run: l.dir.Manifest().Run, Nonce: nonce(), Bricks: l.bricks, Keys: l.keys, Skip: l.skip, Faults: l.faults,
		Sink: l.sink, Event: l.dir.AddEvent, Warn: func(what string) { l.say.linef("%s", what) }, Progress: l.say.second,
		Agents: l.agents, AllowLost: l.lose, RoundTrip: trips,
	}
	l.say.begin(&l.plan, l.skip, fmt.Sprintf("about %v", l.remaining()))
	defer l.say.end()
	return coordinator.New(cfg).Run(ctx)
}

// remaining is how long the levels that are still to be measured will take.
func (l *loading) remaining() time.Duration {
	left := len(loadgen.Points(&l.plan)) - l.skip
	return time.Duration(left) * (l.plan.Warmup + l.plan.Duration + levelOverhead)
}

// inOneLine joins what went wrong with what followed from it.
func inOneLine(err, then error) error {
	switch {
	case then == nil:
		return err
	case err == nil:
		return then
	}
	return fmt.Errorf("%w (%w)", err, then)
}

// nonce tells the keys of this run from those of any other.
func nonce() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails: crypto/rand
	return binary.LittleEndian.Uint64(b[:])
}
