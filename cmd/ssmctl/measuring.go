package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/result"
)

// measuring is what a call of load and one of sim have in common, between the flags
// and the result.
type measuring struct {
	plan       result.Plan
	faults     []chaos.Fault // of the plan
	profile    profile.Profile
	conditions []result.Condition
	dir        *result.Dir
	say        *progress
}

// checkForm reads what says neither what is measured nor how.
func checkForm(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	switch {
	case c.Bool("csv") && c.Bool("json"):
		return usagef("--csv, --json: choose one")
	case c.String("out") == "":
		return usagef("--out: empty: name a directory, or leave it out")
	}
	return nil
}

// sink keeps a level and says how it came out.
func (m *measuring) sink(level result.Level) error {
	if err := m.dir.AppendLevel(level); err != nil {
		return err
	}
	m.say.level(&level.Row)
	return nil
}

// conclude marks the run, prints what it has, and chooses the exit code.
func (m *measuring) conclude(c *cli.Context, measured error) error {
	live := m.dir.Manifest().Mode == result.Live
	state, why := result.Complete, ""
	if measured != nil {
		state, why = result.Partial, measured.Error()
		if live && errors.Is(measured, coordinator.ErrInterrupted) {
			_ = m.dir.AddEvent(result.Event{Time: time.Now().UTC(), Level: -1, Kind: "interrupted"}) // the marker below says it too
		}
	}
	if !live && measured != nil && m.dir.Levels() == 0 {
		m.say.linef("no level was done: nothing is kept")
		return errors.Join(measured, m.dir.Discard())
	}
	if err := m.dir.Finish(state, why); err != nil {
		return errors.Join(measured, err)
	}
	run, err := result.Open(m.dir.Path())
	if err != nil {
		return errors.Join(measured, err)
	}
	if run.State == result.Complete && state == result.Partial {
		m.say.linef("%s was simulated as a whole before, and stays: ssmctl report shows it", m.dir.Path())
		return measured
	}
	if len(run.Rows) > 0 {
		if err := renderLevels(c, []*result.Run{run}); err != nil {
			return errors.Join(measured, err)
		}
	}
	m.say.linef("kept in %s", m.dir.Path())
	if measured != nil {
		if live {
			m.say.linef("go on with: ssmctl load --resume %s", m.dir.Path())
		}
		return measured
	}
	return verdict(run.Rows, m.conditions, c.Bool("strict"))
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
