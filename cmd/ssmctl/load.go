package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/protect"
)

const loadHelp = `Measures goodput at one or more levels of load. A load machine is a stub and its
hyperactive users, who write a state, read it back and go on without thinking.

With no bricks running, load starts eight of profile nsdi04 inside itself and
stops them at the end. With bricks running (ssmctl brick start) it uses those.

  ssmctl load --machines 4,14,24 --protection off,on --duration 10s
  ssmctl load --machines 1-37 --protection off,on            # Figures 8 and 9
  ssmctl load --machines 14 --fail-if 'goodput_rps<1300'     # for scripts
  ssmctl load --resume 20261130T161500Z-ab12cd               # after an interruption

LEVELS are 24, or 1,2,4, or 1-37, or 1-37:4 (in steps). At each level every
protection and policy is measured before the next level, with the same seed.
EXPR is [PROTECTION:]COLUMN OPERATOR NUMBER on a column of the CSV.

Exit codes: 0 done, 1 a --fail-if held, 2 usage, 3 measurement invalid (with
--strict), 4 infrastructure, 130 interrupted.`

func loadCommand() *cli.Command {
	return &cli.Command{
		Name:         "load",
		Usage:        "measure goodput under load, with and without protection",
		Description:  loadHelp,
		Flags:        append(planFlags(), loadFlags()...),
		OnUsageError: onUsageError,
		Action:       load,
	}
}

// planFlags are the flags that say what is measured.
func planFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "machines", Usage: "load machines: `LEVELS`"},
		&cli.IntFlag{Name: "threads", Value: 12, Usage: "users on each machine (published: 12)"},
		&cli.DurationFlag{Name: "duration", Value: 2 * time.Minute, Usage: "measure each level so long (published: 2m)"},
		&cli.DurationFlag{Name: "warmup", Value: 5 * time.Second, Usage: "load each level so long before measuring"},
		&cli.StringFlag{Name: "protection", Usage: "`LIST` of on, off, window, discard (default: as found, and followed)"},
		&cli.StringFlag{Name: "policy", Value: protect.DefaultPolicy, Usage: "`LIST` of window policies: " + policyNames()},
		&cli.IntFlag{Name: "w", Value: 3, Usage: "copies that a write sends (published: 3)"},
		&cli.IntFlag{Name: "wq", Value: 2, Usage: "copies whose acknowledgement completes it (published: 2)"},
		&cli.IntFlag{Name: "r", Value: 1, Usage: "bricks that a read asks (published: 1)"},
		&cli.DurationFlag{Name: "timeout", Value: 60 * time.Millisecond, Usage: "give up an operation after (published: 60ms)"},
		&cli.StringFlag{Name: "size", Value: "8KiB", Usage: "`SIZE` of a state (published: 8 KB)"},
		&cli.StringFlag{Name: "profile", Usage: "system under test: a `NAME` of ssmctl profile list, or a YAML file (default: that of the bricks, or nsdi04)"},
		&cli.IntFlag{Name: "bricks", Usage: "start so many embedded bricks, whatever else runs (default: 8 if none run)"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of all randomness of users and embedded bricks"},
		&cli.Float64Flag{Name: "rate", Usage: "open loop: attempts per second of all machines together, latency from the planned instant"},
	}
}

// loadFlags are the flags that say what becomes of it.
func loadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "fail-if", Usage: "exit 1 if `EXPR` holds for a level; may be repeated"},
		&cli.BoolFlag{Name: "strict", Usage: "exit 3 if a level is not steady or the load side is not to be believed"},
		outFlag("keep runs in `DIR`"),
		&cli.StringFlag{Name: "resume", Usage: "go on with an interrupted `RUN`, with its plan"},
		&cli.BoolFlag{Name: "csv", Usage: "print the levels as CSV"},
		&cli.BoolFlag{Name: "json", Usage: "print the levels as JSON"},
		&cli.BoolFlag{Name: "quiet", Usage: "no progress, no messages: the result and errors alone"},
	}
}

func policyNames() string {
	names := ""
	for i, p := range protect.Policies() {
		if i > 0 {
			names += ", "
		}
		names += p.Name
	}
	return names
}
