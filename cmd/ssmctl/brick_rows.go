package main

import (
	"context"
	"encoding/csv"
	"slices"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/report"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

// The states of a brick.
const (
	brickUp       = "up"
	brickDead     = "dead"
	brickNoAnswer = "no answer"
	brickNoHost   = "unreachable" // its host is
)

// brickRow is what is known of a brick.
type brickRow struct {
	Host    string       `json:"host,omitempty"` // by the inventory, where there is one
	ID      string       `json:"id"`
	Addr    string       `json:"address"`
	PID     int          `json:"pid"`
	State   string       `json:"state"`
	Profile string       `json:"profile"`
	Live    *brickLive   `json:"live,omitempty"` // of a brick that is up
	brick   remote.Brick // to ask
}

type brickLive struct {
	Protection string  `json:"protection"`
	UptimeSec  float64 `json:"uptime_s"`
	Sessions   uint64  `json:"sessions"`
	Bytes      uint64  `json:"bytes"`
	Inbox      uint64  `json:"inbox"` // operations waiting
	Served     float64 `json:"served_rps"`
	Discarded  float64 `json:"discarded_rps"`
	Dropped    float64 `json:"dropped_rps"`
	Garbage    uint64  `json:"garbage_total"` // connections closed for not speaking the protocol
}

// lookTwice asks all bricks how they are, and again for the rates.
func lookTwice(ctx context.Context, records []fleet.Record) ([]brickRow, error) {
	rows := make([]brickRow, len(records))
	var ask []remote.Brick
	for i := range records {
		r := &records[i]
		rows[i] = brickRow{ID: r.ID.String(), Addr: r.Addr, PID: r.PID, State: brickDead, Profile: r.Profile.Name, brick: r.Brick()}
		alive, err := r.Alive()
		if err != nil {
			return nil, err
		}
		if alive {
			rows[i].State = brickNoAnswer
			ask = append(ask, r.Brick())
		}
	}
	if len(ask) == 0 {
		return rows, nil
	}
	client, err := fleet.ClientOf(records)
	if err != nil {
		return nil, err
	}
	first := answersOf(ctx, client, ask)
	pause := time.NewTimer(rateOver)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-pause.C:
	}
	ask = slices.DeleteFunc(ask, func(b remote.Brick) bool { return first[b.ID].Brick == 0 }) // it had its time
	second := answersOf(ctx, client, ask)
	for i := range rows {
		id := rows[i].brick.ID
		if after, ok := second[id]; ok {
			rows[i].State, rows[i].Live = brickUp, liveOf(first[id], after)
		}
	}
	return rows, nil
}

// answersOf returns the answers of those that give one.
func answersOf(ctx context.Context, client remote.Client, bricks []remote.Brick) map[session.BrickID]wire.Heartbeat {
	answers, _ := remote.All(ctx, bricks, client.Status) // no answer is a state, not an error
	byID := make(map[session.BrickID]wire.Heartbeat, len(answers))
	for _, h := range answers {
		if h.Brick != 0 {
			byID[h.Brick] = h
		}
	}
	return byID
}

func liveOf(before, after wire.Heartbeat) *brickLive {
	b, a := &before.Stats, &after.Stats
	live := &brickLive{
		Protection: after.Setting.String(), UptimeSec: a.Uptime.Seconds(),
		Sessions: a.Sessions, Bytes: a.Bytes, Inbox: a.InboxLen, Garbage: a.Garbage,
	}
	if passed := (a.Uptime - b.Uptime).Seconds(); passed > 0 { // else it was restarted in between
		rate := func(after, before uint64) float64 { return float64(after-before) / passed }
		live.Served = rate(a.Writes+a.Reads, b.Writes+b.Reads)
		live.Discarded, live.Dropped = rate(a.Discarded, b.Discarded), rate(a.Dropped, b.Dropped)
	}
	return live
}

// brickColumns are those of the CSV, in their order; the table has the same.
var brickColumns = []string{
	"id", "address", "pid", "state", "protection", "profile", "uptime_s", "sessions", "bytes", "inbox",
	"served_rps", "discarded_rps", "dropped_rps", "garbage_total",
}

func renderBricks(c *cli.Context, rows []brickRow) error {
	switch {
	case c.Bool("json"):
		return printJSON(c, rows)
	case c.Bool("csv"):
		out := csv.NewWriter(c.App.Writer)
		lines := [][]string{rowOn(c, brickColumns, "host")}
		for i := range rows {
			lines = append(lines, rowOn(c, rows[i].cells(strconv.FormatUint, seconds), rows[i].Host))
		}
		return out.WriteAll(lines)
	case len(rows) == 0:
		return nil
	}
	table := report.Grid{
		Header: rowOn(c, []string{
			"id", "address", "pid", "state", "protection", "profile", "uptime", "sessions", "bytes", "inbox",
			"served\n/s", "discarded\n/s", "dropped\n/s", "garbage\nclosed",
		}, "host"),
		Left: []bool{true, true, false, true, true, true, false, false, false, false, false, false, false, false, true},
	}
	for i := range rows {
		table.Add(rowOn(c, rows[i].cells(readable, uptime), rows[i].Host)...)
	}
	return table.Write(c.App.Writer)
}

// rowOn adds the column of the host where there is one.
func rowOn(c *cli.Context, cells []string, host string) []string {
	if !c.IsSet("hosts") {
		return cells
	}
	return append(slices.Clip(cells), host)
}

// cells writes a row in the order of brickColumns; what is not known is empty.
func (r *brickRow) cells(bytes func(uint64, int) string, uptime func(float64) string) []string {
	live := make([]string, 9)
	if l := r.Live; l != nil {
		live = []string{
			l.Protection, uptime(l.UptimeSec), strconv.FormatUint(l.Sessions, 10), bytes(l.Bytes, 10), strconv.FormatUint(l.Inbox, 10),
			perSecond(l.Served), perSecond(l.Discarded), perSecond(l.Dropped), strconv.FormatUint(l.Garbage, 10),
		}
	}
	return append([]string{r.ID, r.Addr, number(r.PID), r.State, live[0], r.Profile}, live[1:]...)
}

func readable(n uint64, _ int) string { return humanize.IBytes(n) }

func uptime(s float64) string {
	return (time.Duration(s) * time.Second).String()
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

func perSecond(r float64) string { return strconv.FormatFloat(r, 'f', 1, 64) }
