package main

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet/facts"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
	"github.com/ssmctl/ssmctl/internal/report"
)

const hostsCheckHelp = `Reaches all hosts of an inventory (docs/hosts.md) at the same time, puts ssmctl
there, and shows what each is. The clock offset is wrong by half the round trip
at most. faults are what a host can be made to take: nft and tc for its network,
cgroup for its processes; all need root. What is not known is empty.

Exit code 4 if a host is not ready, also for want of a place to keep records and
logs in; every reason is told.

  ssmctl hosts check --hosts lab.yaml
  ssmctl hosts check --hosts lab.yaml --csv
  ssmctl hosts check --hosts lab.yaml --via 'ip netns exec {name}'`

func hostsCommand() *cli.Command {
	return &cli.Command{
		Name:  "hosts",
		Usage: "see whether the hosts of an inventory can be used",
		Subcommands: []*cli.Command{
			{
				Name: "check", Usage: "reach all hosts and show what they are", Description: hostsCheckHelp,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "hosts", Usage: "the hosts are those of `FILE`, slurm:PARTITION or k8s:SELECTOR"},
					viaFlag(),
					&cli.BoolFlag{Name: "csv", Usage: "as CSV"},
					&cli.BoolFlag{Name: "json", Usage: "as JSON"},
				},
				OnUsageError: onUsageError, Action: hostsCheck,
			},
		},
		OnUsageError: onUsageError,
		Action:       unknownSubcommand,
	}
}

// hostFactsCommand is what hosts check runs on every host; people do not call it.
func hostFactsCommand() *cli.Command {
	return &cli.Command{
		Name:         "host-facts",
		Usage:        "say what this host is, and the time for every line of standard input",
		Hidden:       true,
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			return facts.Serve(c.App.Reader, c.App.Writer)
		},
	}
}

func hostsCheck(c *cli.Context) error {
	switch {
	case c.Bool("csv") && c.Bool("json"):
		return usagef("--csv, --json: choose one")
	case c.String("hosts") == "":
		return usagef("hosts check: which hosts? --hosts FILE names their inventory")
	}
	if err := noArguments(c); err != nil {
		return err
	}
	inv, err := inventoryOf(c, c.String("hosts"))
	if err != nil {
		return err
	}
	way, err := reach.Open(inv.Hosts)
	if err != nil {
		return err
	}
	way.Notices = func(text string) { _ = sayf(c, "%s", text) } // stderr may be gone; the table is what counts
	looks, notReady := way.Look(c.Context)
	closing := way.Close()
	rows := make([]hostRow, len(looks))
	for i, h := range way.Hosts() {
		rows[i] = hostRowOf(h, looks[i])
	}
	if err := c.Err(); err != nil {
		return err
	}
	if err := renderHosts(c, rows); err != nil {
		return err
	}
	if notReady != nil {
		return notReady
	}
	return closing
}

// hostRow is what is known of a host.
type hostRow struct {
	Host    string       `json:"host"`
	Address string       `json:"address"`
	Bricks  int          `json:"bricks"`
	Load    bool         `json:"load"`
	Reached bool         `json:"reached"`
	Facts   *facts.Facts `json:"facts,omitempty"`
	Clock   *hostClock   `json:"clock,omitempty"`
}

type hostClock struct {
	OffsetMS    float64 `json:"offset_ms"` // positive: it is ahead
	RoundTripMS float64 `json:"round_trip_ms"`
}

func hostRowOf(h *reach.Host, l *reach.Look) hostRow {
	row := hostRow{Host: h.Name, Address: h.Address, Bricks: h.Bricks, Load: h.Load}
	if l == nil {
		return row
	}
	row.Reached, row.Facts = true, &l.Facts
	if l.Clock != nil {
		row.Clock = &hostClock{
			OffsetMS:    float64(l.Clock.Offset) / float64(time.Millisecond),
			RoundTripMS: float64(l.Clock.RoundTrip) / float64(time.Millisecond),
		}
	}
	return row
}

// hostColumns are those of the CSV, in their order.
var hostColumns = []string{
	"host", "address", "bricks", "load", "reached", "os", "arch", "cores", "kernel", "memory_free_bytes",
	"clock_offset_ms", "round_trip_ms", "root", "nft", "tc", "cgroup",
}

func renderHosts(c *cli.Context, rows []hostRow) error {
	switch {
	case c.Bool("json"):
		return printJSON(c, rows)
	case c.Bool("csv"):
		out := csv.NewWriter(c.App.Writer)
		lines := [][]string{hostColumns}
		for i := range rows {
			lines = append(lines, rows[i].cells())
		}
		return out.WriteAll(lines)
	}
	table := report.Grid{
		Header: []string{
			"host", "address", "bricks", "load", "reached", "system", "cores", "kernel", "free\nmemory",
			"clock\noffset ms", "round trip\nms", "faults",
		},
		Left: []bool{true, true, false, true, true, true, false, true, false, false, false, true},
	}
	for i := range rows {
		table.Add(rows[i].readable()...)
	}
	return table.Write(c.App.Writer)
}

// cells writes a row in the order of hostColumns.
func (r *hostRow) cells() []string {
	cells := make([]string, len(hostColumns))
	copy(cells, []string{r.Host, r.Address, strconv.Itoa(r.Bricks), strconv.FormatBool(r.Load), strconv.FormatBool(r.Reached)})
	if f := r.Facts; f != nil {
		copy(cells[5:], []string{f.OS, f.Arch, number(f.Cores), f.Kernel})
		cells[12] = strconv.FormatBool(f.Root)
	}
	if r.Clock == nil { // the rest is known from ssmctl only
		return cells
	}
	cells[9] = strconv.FormatUint(r.Facts.MemoryFree, 10)
	cells[10], cells[11] = r.Clock.cells()
	for i, has := range []bool{r.Facts.NFT, r.Facts.TC, r.Facts.Cgroup} {
		cells[13+i] = strconv.FormatBool(has)
	}
	return cells
}

func (k *hostClock) cells() (offset, roundTrip string) {
	return fmt.Sprintf("%.3f", k.OffsetMS), fmt.Sprintf("%.3f", k.RoundTripMS)
}

// number is empty if it is not known.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// readable writes a row for people, in the order of the table.
func (r *hostRow) readable() []string {
	yes := map[bool]string{true: "yes", false: "no"}
	cells := []string{r.Host, r.Address, number(r.Bricks), yes[r.Load], yes[r.Reached], "", "", "", "", "", "", ""}
	if f := r.Facts; f != nil {
		copy(cells[5:], []string{f.OS + "/" + f.Arch, number(f.Cores), f.Kernel})
	}
	if r.Clock != nil {
		cells[8] = humanize.IBytes(r.Facts.MemoryFree)
		cells[9], cells[10] = r.Clock.cells()
		cells[11] = faultsOf(r.Facts)
	}
	return cells
}

func faultsOf(f *facts.Facts) string {
	if !f.Root {
		return "none: not root"
	}
	text := ""
	for _, part := range []struct {
		has  bool
		name string
	}{{f.NFT, "nft"}, {f.TC, "tc"}, {f.Cgroup, "cgroup"}} {
		if part.has {
			text += part.name + " "
		}
	}
	if text == "" {
		return "none: no nft, tc, cgroup"
	}
	return text[:len(text)-1]
}
