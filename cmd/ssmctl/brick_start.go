package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/report"
)

const brickStartHelp = `Starts bricks as processes that go on after this command, or none of them.

With --listen HOST:0 each takes a free port; with another port they take that one
and those after it. On another address than loopback they take connections by
mutual TLS, with keys made for them, which the commands on this machine find; or
from everybody with --plaintext.

--foreground runs them inside this command until Ctrl-C instead, with their log on
stderr. Such bricks are recorded nowhere: no other command of ssmctl finds them.

With --hosts FILE they start on the hosts of an inventory (docs/hosts.md), as many
on each as that says, over all hosts or none.

  ssmctl brick start --count 8
  ssmctl brick start --count 3 --listen 127.0.0.1:7001 --profile native --memory 512MiB
  ssmctl brick start --count 1 --add            # one more beside those running
  ssmctl brick start --listen 0.0.0.0:7001      # from elsewhere with keys only
  ssmctl brick start --hosts lab.yaml           # on other machines`

const (
	mostBricks    = 1000
	leastMemory   = 1 << 20
	leastInbox    = 1 << 10
	defaultListen = "127.0.0.1:0"
)

func brickStartCommand() *cli.Command {
	return &cli.Command{
		Name:        "start",
		Usage:       "start bricks",
		Description: brickStartHelp,
		Flags: clusterFlags(
			&cli.IntFlag{Name: "count", Value: 1, Usage: "start so many bricks"},
			&cli.StringFlag{Name: "listen", Value: defaultListen, Usage: "`HOST:PORT` of the first brick"},
			&cli.StringFlag{Name: "profile", Value: defaultProfile, Usage: "system under test: a `NAME` of ssmctl profile list, or a YAML file"},
			&cli.StringFlag{Name: "protection", Value: protect.On.String(), Usage: protect.SettingChoice()},
			&cli.StringFlag{Name: "memory", Value: "1GiB", Usage: "bound of the states in each brick, a `SIZE`"},
			&cli.StringFlag{Name: "inbox", Value: "64MiB", Usage: "bound of the waiting operations of each brick, a `SIZE`"},
			&cli.BoolFlag{Name: "plaintext", Usage: "let everybody in who can reach them: no TLS"},
			&cli.BoolFlag{Name: "add", Usage: "start them beside bricks that run already"},
			&cli.BoolFlag{Name: "foreground", Usage: "run them in this command, until Ctrl-C"},
			&cli.BoolFlag{Name: "json", Usage: "as JSON"},
			viaFlag(),
		),
		OnUsageError: onUsageError,
		Action:       brickStart,
	}
}

func brickStart(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if place := placeOf(c); place != nil {
		return place.Perform(c.Context, c.App.Reader, c.App.Writer, noticesOf(c))
	}
	if err := checkStartOnHosts(c); err != nil {
		return err
	}
	o, err := startOptions(c)
	if err != nil {
		return err
	}
	if c.IsSet("hosts") {
		return startOnHosts(c, &o)
	}
	if c.Bool("foreground") {
		return brickForeground(c, o)
	}
	records, err := openState(c).Start(c.Context, o)
	if err != nil {
		return err
	}
	return renderStarted(c, startedRows("", fleet.StartedOf(records)))
}

func startOptions(c *cli.Context) (o fleet.StartOptions, err error) {
	o.Count, o.Listen, o.Add = c.Int("count"), c.String("listen"), c.Bool("add")
	if o.Count < 1 || o.Count > mostBricks {
		return o, usagef("--count: %d is not 1 to %d bricks", o.Count, mostBricks)
	}
	if o.Add && c.Bool("foreground") {
		return o, usagef("--add, --foreground: choose one")
	}
	if _, err := fleet.Addresses(o.Listen, o.Count); err != nil {
		return o, usagef("--listen: %w", err)
	}
	if err := exposure(c, &o); err != nil {
		return o, err
	}
	if o.Profile, err = loadProfile(c.String("profile")); err != nil {
		return o, usagef("--profile: %w", err)
	}
	if o.Protection, err = protect.ParseSetting(c.String("protection")); err != nil {
		return o, usagef("--protection: %w", err)
	}
	if o.Memory, err = sizeFlag(c, "memory", leastMemory); err != nil {
		return o, err
	}
	o.Inbox, err = sizeFlag(c, "inbox", leastInbox)
	return o, err
}

// exposure decides whether the bricks may do without keys.
func exposure(c *cli.Context, o *fleet.StartOptions) error {
	o.Plaintext = c.Bool("plaintext")
	switch {
	case !fleet.Exposed(o.Listen):
		return nil
	case o.Plaintext:
		return sayf(c, "--plaintext: whoever can reach %s can read, change and command these bricks", o.Listen)
	case c.Bool("foreground"):
		return usagef("--listen: %s: %w: leave out --foreground, which has keys made, or let everybody in with --plaintext", o.Listen, fleet.ErrExposed)
	}
	return nil
}

func sizeFlag(c *cli.Context, name string, least int64) (int64, error) {
	size, err := parseSize(c.String(name))
	if err != nil {
		return 0, usagef("--%s: %w", name, err)
	}
	if size < least {
		return 0, usagef("--%s: %s is too small: give at least %s", name, c.String(name), humanize.IBytes(uint64(least)))
	}
	return size, nil
}

// startedRow is a brick that has started.
type startedRow struct {
	Host string `json:"host,omitempty"`
	fleet.Started
}

func startedRows(host string, started []fleet.Started) []startedRow {
	rows := make([]startedRow, len(started))
	for i := range started {
		rows[i] = startedRow{Host: host, Started: started[i]}
	}
	return rows
}

func renderStarted(c *cli.Context, rows []startedRow) error {
	if c.Bool("json") {
		return printJSON(c, rows)
	}
	table := report.Grid{
		Header: rowOn(c, []string{"id", "address", "pid", "profile", "log"}, "host"),
		Left:   []bool{true, true, false, true, true, true},
	}
	for i := range rows {
		r := &rows[i]
		table.Add(rowOn(c, []string{r.ID, r.Addr, strconv.Itoa(r.PID), r.Profile, r.Log}, r.Host)...)
	}
	return table.Write(c.App.Writer)
}

// brickForeground is the bricks until it is interrupted, which is their proper end.
func brickForeground(c *cli.Context, o fleet.StartOptions) (err error) {
	cluster, err := fleet.Foreground(o, slog.New(slog.NewTextHandler(c.App.ErrWriter, nil)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	for _, b := range cluster.Bricks() {
		if _, err := fmt.Fprintf(c.App.Writer, "%s %s\n", b.ID, b.Addr); err != nil {
			return err
		}
	}
	<-c.Done()
	return nil
}
