package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/report"
	"github.com/ssmctl/ssmctl/internal/wire"
)

const (
	protectHead = `Switches the protection of all bricks, or shows it. A running load follows at once.

`
	protectTail = `  status        change nothing

  ssmctl protect off && ssmctl load --machines 24 --duration 10s
  ssmctl protect status --hosts lab.yaml        # of bricks on other machines`
)

// protectHelp describes every setting.
func protectHelp() string {
	var b strings.Builder
	b.WriteString(protectHead)
	for _, s := range protect.Settings() {
		fmt.Fprintf(&b, "  %-12s  %s\n", s, s.Summary())
	}
	b.WriteString(protectTail)
	return b.String()
}

func protectCommand() *cli.Command {
	return &cli.Command{
		Name:         "protect",
		Usage:        "switch the self-protection of the bricks",
		ArgsUsage:    strings.Join(protect.SettingNames(), "|") + "|status",
		Description:  protectHelp(),
		Flags:        []cli.Flag{hostsFlag()},
		OnUsageError: onUsageError,
		Action:       protectBricks,
	}
}

func protectBricks(c *cli.Context) error {
	const status = "status"
	if c.NArg() != 1 {
		return usagef("protect: say one of %s, or status", protect.SettingChoice())
	}
	var change *protect.Setting
	if word := c.Args().First(); word != status {
		setting, err := protect.ParseSetting(word)
		if err != nil {
			return usagef("protect: %w, or status", err)
		}
		change = &setting
	}
	find := foundHere
	if c.IsSet("hosts") {
		find = foundOnHosts
	}
	bricks, client, deadErrs, err := find(c)
	if err != nil {
		return err
	}
	before, errs := remote.All(c.Context, bricks, client.Status)
	after := before
	if change != nil {
		after, errs = remote.All(c.Context, bricks, func(ctx context.Context, b remote.Brick) (wire.Heartbeat, error) {
			return client.Protect(ctx, b, *change)
		})
	}
	if err := renderSettings(c, bricks, before, after, change != nil); err != nil {
		return err
	}
	return unreachable(append(deadErrs, errs...))
}

// foundHere returns the bricks of this machine that run, and an error for each of the others.
func foundHere(c *cli.Context) (bricks []remote.Brick, client remote.Client, dead []error, err error) {
	records, err := openState(c).Records()
	if err == nil && len(records) == 0 {
		err = errors.New(noBricks)
	}
	if err != nil {
		return nil, client, nil, err
	}
	if bricks, dead, err = living(records); err != nil {
		return nil, client, nil, err
	}
	client, err = fleet.ClientOf(records)
	return bricks, client, dead, err
}

// living returns the bricks whose processes run, and an error for each of the others.
func living(records []fleet.Record) (bricks []remote.Brick, dead []error, err error) {
	for i := range records {
		r := &records[i]
		alive, err := r.Alive()
		switch {
		case err != nil:
			return nil, nil, err
		case alive:
			bricks = append(bricks, r.Brick())
		default:
			dead = append(dead, fmt.Errorf("%s is dead: ssmctl brick restart %s", r.ID, r.ID))
		}
	}
	return bricks, dead, nil
}

// renderSettings prints the bricks that have answered, and says so if they disagree.
func renderSettings(c *cli.Context, bricks []remote.Brick, before, after []wire.Heartbeat, changed bool) error {
	table := report.Grid{Header: []string{"id", "address", "protection"}, Left: []bool{true, true, true, true}}
	if changed {
		table.Header = append(table.Header, "before")
	}
	var answered []wire.Heartbeat
	for i, h := range after {
		if h.Brick == 0 {
			continue
		}
		answered = append(answered, h)
		row := []string{h.Brick.String(), bricks[i].Addr, h.Setting.String()}
		if changed {
			row = append(row, settingBefore(before[i]))
		}
		table.Add(row...)
	}
	if len(answered) == 0 {
		return nil
	}
	if err := table.Write(c.App.Writer); err != nil {
		return err
	}
	if _, err := coordinator.Agreed(answered); err != nil {
		return sayf(c, "%v", err)
	}
	return nil
}

func settingBefore(h wire.Heartbeat) string {
	if h.Brick == 0 {
		return "?"
	}
	return h.Setting.String()
}

func unreachable(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("not all bricks could be reached: %w", errors.Join(errs...))
}
