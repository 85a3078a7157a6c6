package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/result"
)

// loading is one call of load, between the flags and the result.
type loading struct {
	plan       result.Plan
	profile    profile.Profile
	conditions []result.Condition
	bricks     []remote.Brick
	skip       int // points of the plan that a resumed run has
	dir        *result.Dir
	say        *progress
}

func load(c *cli.Context) (err error) {
	l := &loading{say: newProgress(c.App.ErrWriter, c.Bool("quiet"))}
	if err := l.check(c); err != nil {
		return err
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
	return l.conclude(c, l.measure(c.Context))
}

// check reads everything of the command line that needs no look at the bricks.
func (l *loading) check(c *cli.Context) (err error) {
	if err := noArguments(c); err != nil {
		return err
	}
	switch {
	case c.Bool("csv") && c.Bool("json"):
		return usagef("--csv, --json: choose one")
	case c.String("out") == "":
		return usagef("--out: empty: name a directory, or leave it out")
	}
	if c.IsSet("resume") {
		err = l.resume(c)
	} else {
		l.plan, err = planOf(c)
	}
	if err != nil {
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
	l.dir, err = result.Create(c.String("out"), manifestOf(c, &l.plan, &l.profile))
	return err
}

// measure runs the plan on agents of its own.
func (l *loading) measure(ctx context.Context) (err error) {
	most := l.plan.Machines[len(l.plan.Machines)-1]
	cfg := coordinator.Config{
		Plan: l.plan, Profile: l.profile, Run: l.dir.Manifest().Run, Nonce: nonce(), Bricks: l.bricks, Skip: l.skip,
		Sink: l.sink, Event: l.dir.AddEvent, Warn: func(what string) { l.say.linef("%s", what) }, Progress: l.say.second,
	}
	for range min(runtime.NumCPU(), most) {
		a, startErr := fleet.StartAgent(l.say.err, "agent")
		if startErr != nil {
			return startErr
		}
		defer func() { err = inOneLine(err, a.Close()) }()
		cfg.Agents = append(cfg.Agents, coordinator.Agent{Host: "localhost", In: a.In, Out: a.Out})
	}
	l.say.begin(&l.plan, l.skip)
	defer l.say.end()
	return coordinator.New(cfg).Run(ctx)
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

func (l *loading) sink(level result.Level) error {
	if err := l.dir.AppendLevel(level); err != nil {
		return err
	}
	l.say.level(&level.Row)
	return nil
}

// nonce tells the keys of this run from those of any other.
func nonce() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails: crypto/rand
	return binary.LittleEndian.Uint64(b[:])
}

// conclude marks the run, prints what it has, and chooses the exit code.
func (l *loading) conclude(c *cli.Context, measured error) error {
	state, why := result.Complete, ""
	if measured != nil {
		state, why = result.Partial, measured.Error()
		if errors.Is(measured, coordinator.ErrInterrupted) {
			_ = l.dir.AddEvent(result.Event{Time: time.Now().UTC(), Level: -1, Kind: "interrupted"}) // the marker below says it too
		}
	}
	if err := l.dir.Finish(state, why); err != nil {
		return errors.Join(measured, err)
	}
	run, err := result.Open(l.dir.Path())
	if err != nil {
		return errors.Join(measured, err)
	}
	if len(run.Rows) > 0 {
		if err := renderLevels(c, []*result.Run{run}); err != nil {
			return errors.Join(measured, err)
		}
	}
	l.say.linef("kept in %s", l.dir.Path())
	if measured != nil {
		l.say.linef("go on with: ssmctl load --resume %s", l.dir.Path())
		return measured
	}
	return verdict(run.Rows, l.conditions, c.Bool("strict"))
}

// verdict turns the rows into the exit code that was asked for.
func verdict(rows []result.Row, conditions []result.Condition, strict bool) error {
	var weak, failed []string
	for i := range rows {
		r := &rows[i]
		for j := range conditions {
			if holds, shown := conditions[j].Holds(r); holds {
				failed = append(failed, fmt.Sprintf("%s at %s, protection %s: %s", conditions[j].String(), plural(r.Machines, "machine"), r.Protection, shown))
			}
		}
		if r.Weak() {
			weak = append(weak, fmt.Sprintf("%s, protection %s", plural(r.Machines, "machine"), r.Protection))
		}
	}
	switch {
	case strict && len(weak) > 0:
		return &codeError{exitInvalid, fmt.Errorf("not to be believed: %s: see the notes; measure longer, or on a quieter machine", strings.Join(weak, "; "))}
	case len(failed) > 0:
		return &codeError{exitFailIf, fmt.Errorf("--fail-if held: %s", strings.Join(failed, "; "))}
	}
	return nil
}
