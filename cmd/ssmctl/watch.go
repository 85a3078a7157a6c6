package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/clock"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/watch"
)

const watchHelp = `Looks at all bricks every second, compares what they say of themselves, and prints a
line when one is at fault: its process is gone, it does not answer, or it does less or
drops more than the others, which takes three bricks at least to tell. With --repair
it restarts such a brick: same address, empty memory. One that restarts do not help
is given up, and left running. docs/watch.md has the rule and what it cannot find.

  ssmctl watch                      # alarms only, until Ctrl-C
  ssmctl watch --repair
  ssmctl watch --repair --json --for 10m

Exit codes: 0 ended by Ctrl-C or --for, or all bricks were stopped; 2 usage; 4 there
are no bricks, or they cannot be looked for.`

const (
	leastInterval = time.Second
	mostInterval  = time.Minute
)

func watchCommand() *cli.Command {
	return &cli.Command{
		Name:        "watch",
		Usage:       "find bricks that are at fault, and restart them",
		Description: watchHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "repair", Usage: "restart bricks that are at fault"},
			&cli.DurationFlag{Name: "interval", Value: time.Second, Usage: "look so often; everything takes longer in proportion"},
			&cli.DurationFlag{Name: "for", Usage: "end after so long (default: with Ctrl-C)"},
			&cli.BoolFlag{Name: "json", Usage: "print a JSON object per line"},
		},
		OnUsageError: onUsageError,
		Action:       watchBricks,
	}
}

// ward is the bricks that are watched, wherever they are. A look takes no longer than ctx
// lets it; a brick that has not answered by then is one that does not answer.
type ward interface {
	look(ctx context.Context) ([]watch.Sample, error)
	restart(ctx context.Context, id session.BrickID) error
}

// watching is one call of watch.
type watching struct {
	ward     ward
	core     *watch.Watcher
	interval time.Duration
	print    func(io.Writer, *watchLine) error
	out      io.Writer
}

func watchBricks(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	w := &watching{
		ward: &localWard{openState(c)}, core: watch.New(c.Bool("repair")), interval: c.Duration("interval"),
		print: printWatchText, out: c.App.Writer,
	}
	switch {
	case w.interval < leastInterval || w.interval > mostInterval:
		return usagef("--interval: %v: choose %v to %v", w.interval, leastInterval, mostInterval)
	case c.IsSet("for") && c.Duration("for") <= 0:
		return usagef("--for: %v: choose more, or leave it out", c.Duration("for"))
	case c.Bool("json"):
		w.print = printWatchJSON
	}
	ctx := c.Context
	if c.IsSet("for") {
		limited, cancel := context.WithTimeout(ctx, c.Duration("for"))
		defer cancel()
		ctx = limited
	}
	bricks, err := w.step(ctx)
	switch {
	case err != nil:
		return err
	case bricks == 0:
		return errors.New(noBricks)
	}
	if err := sayf(c, "watching %s; Ctrl-C ends it", plural(bricks, "brick")); err != nil {
		return err
	}
	return w.run(ctx)
}

// run looks again and again until ctx ends or no brick is left.
func (w *watching) run(ctx context.Context) error {
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if bricks, err := w.step(ctx); err != nil || bricks == 0 {
			return err
		}
	}
}

// step takes one look, says what follows from it and does it. It returns how many bricks there are.
func (w *watching) step(ctx context.Context) (int, error) {
	limited, cancel := context.WithTimeout(ctx, w.interval)
	samples, err := w.ward.look(limited)
	cancel()
	if ctx.Err() != nil { // half a look says nothing
		return len(samples), nil
	}
	if err != nil {
		return 0, err
	}
	for _, a := range w.core.Look(clock.Now(), samples) {
		line := newWatchLine(&a)
		if a.Kind == watch.Repair {
			// A brick that is down already is brought back, also when Ctrl-C comes meanwhile.
			began := clock.Now()
			err := w.ward.restart(context.WithoutCancel(ctx), a.Brick)
			line.repaired(clock.Now()-began, err)
		}
		if err := w.print(w.out, line); err != nil {
			return 0, err
		}
	}
	return len(samples), nil
}

// watchLine is what is printed of an action.
type watchLine struct {
	Time       time.Time        `json:"time"`
	Kind       string           `json:"kind"` // alarm, repair, gave-up, alarm-over
	Brick      string           `json:"brick"`
	Cause      string           `json:"cause"` // of the alarm: gone, silent, deviates
	What       string           `json:"what"`  // in words
	Deviations []watchDeviation `json:"deviations,omitempty"`
	Seconds    *float64         `json:"restart_s,omitempty"` // that the restart took
	Error      string           `json:"error,omitempty"`     // of a restart that failed
}

type watchDeviation struct {
	Statistic string  `json:"statistic"`
	Value     float64 `json:"value"` // per second of reads, writes and drops
	Median    float64 `json:"median"`
	Spreads   float64 `json:"spreads"`
}

func newWatchLine(a *watch.Action) *watchLine {
	l := &watchLine{Time: time.Now(), Kind: string(a.Kind), Brick: a.Brick.String(), Cause: string(a.Cause), What: a.What()}
	for _, d := range a.Deviations {
		l.Deviations = append(l.Deviations, watchDeviation{string(d.Statistic), d.Value, d.Median, d.Spreads})
	}
	return l
}

// repaired takes in how the restart went.
func (l *watchLine) repaired(took time.Duration, err error) {
	if err != nil {
		l.Error, l.What = err.Error(), "the restart failed: "+err.Error()
		return
	}
	seconds := took.Seconds()
	l.Seconds, l.What = &seconds, fmt.Sprintf("restarted in %.2f s, its memory is empty", seconds)
}

func printWatchText(w io.Writer, l *watchLine) error {
	what := l.What
	if l.Kind == string(watch.Over) {
		what = "it is well"
	}
	_, err := fmt.Fprintf(w, "%s  %-10s  %s: %s\n", l.Time.Format(time.TimeOnly), l.Kind, l.Brick, what)
	return err
}

func printWatchJSON(w io.Writer, l *watchLine) error {
	l.Time = l.Time.UTC()
	return json.NewEncoder(w).Encode(l)
}
