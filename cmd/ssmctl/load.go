package main

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
)

const loadHelp = `Measures goodput at one or more levels of load. A load machine is a stub and its
hyperactive users, who write a state, read it back and go on without thinking.

With no bricks running, load starts eight of profile nsdi04 inside itself and
stops them at the end. With bricks running (ssmctl brick start) it uses those.
With --hosts the load machines are spread over the hosts of an inventory that take
load, and the bricks are those of ssmctl brick start --hosts, or its own (docs/clusters.md).

  ssmctl load --machines 4,14,24 --protection off,on --duration 10s
  ssmctl load --machines 1-37 --protection off,on            # Figures 8 and 9
  ssmctl load --machines 14 --fail-if 'goodput_rps<1300'     # for scripts
  ssmctl load --resume 20261130T161500Z-ab12cd               # after an interruption
  ssmctl load --machines 24 --hosts lab.yaml                 # from many machines

` + planWords + `
SPEC is surge:load,machines=N@AT+FOR: N machines more, whatever the level has, from AT
after the warm-up on; ssmctl sim knows more faults.

Exit codes: 0 done, 1 a --fail-if held, 2 usage, 3 measurement invalid (with
--strict), 4 infrastructure, 130 interrupted.`

func loadCommand() *cli.Command {
	return &cli.Command{
		Name:        "load",
		Usage:       "measure goodput under load, with and without protection",
		Description: loadHelp + policiesHelp() + scenariosHelp(),
		Flags: slices.Concat(planFlags(loadUsage), outcomeFlags(), []cli.Flag{
			&cli.StringFlag{Name: "resume", Usage: "go on with an interrupted `RUN`, with its plan"},
			hostsFlag(), viaFlag(),
			&cli.BoolFlag{Name: "allow-lost-hosts", Usage: "go on with the other hosts when one is lost"},
			&cli.BoolFlag{Name: "plaintext", Usage: "with --hosts: let everybody in who can reach the bricks: no TLS"},
		}),
		OnUsageError: onUsageError,
		Action:       load,
	}
}

// planUsage is where the plan flags of load and sim differ.
type planUsage struct {
	duration   time.Duration
	protection string
	profile    string
	bricks     int
	// What help says of them, and of others.
	durationText, warmupText, protectionText, profileText, bricksText, seedText string
}

// loadUsage is what the plan flags mean in real time.
var loadUsage = planUsage{
	duration:       2 * time.Minute,
	durationText:   "measure each level so long (published: 2m)",
	warmupText:     "load each level so long before measuring",
	protectionText: "`LIST` of " + protect.SettingChoice() + " (default: as found, and followed)",
	profileText:    "system under test: a `NAME` of ssmctl profile list, or a YAML file (default: that of the bricks, or nsdi04)",
	bricksText:     "start so many embedded bricks, whatever else runs (default: 8 if none run)",
	seedText:       "of all randomness of users and embedded bricks",
}

// planFlags are the flags that say what is measured.
func planFlags(u planUsage) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "machines", Usage: "load machines: `LEVELS`"},
		&cli.IntFlag{Name: "threads", Value: 12, Usage: "users on each machine (published: 12)"},
		&cli.DurationFlag{Name: "duration", Value: u.duration, Usage: u.durationText},
		&cli.DurationFlag{Name: "warmup", Value: defaultWarmup, Usage: u.warmupText},
		&cli.StringFlag{Name: "protection", Value: u.protection, Usage: u.protectionText},
		&cli.StringFlag{Name: "policy", Value: protect.DefaultPolicy, Usage: "`LIST` of window policies: " + policyNames()},
		&cli.IntFlag{Name: "w", Value: 3, Usage: "copies that a write sends (published: 3)"},
		&cli.IntFlag{Name: "wq", Value: 2, Usage: "copies whose acknowledgement completes it (published: 2)"},
		&cli.IntFlag{Name: "r", Value: 1, Usage: "bricks that a read asks (published: 1)"},
		&cli.DurationFlag{Name: "timeout", Value: 60 * time.Millisecond, Usage: "give up an operation after (published: 60ms)"},
		&cli.StringFlag{Name: "size", Value: "8KiB", Usage: "`SIZE` of a state (published: 8 KB)"},
		&cli.StringFlag{Name: "profile", Value: u.profile, Usage: u.profileText},
		&cli.IntFlag{Name: "bricks", Value: u.bricks, Usage: u.bricksText},
		&cli.DurationFlag{Name: "audit", Value: result.DefaultAudit, Usage: "read back what was written, after each level, for so long at most"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: u.seedText},
		&cli.Float64Flag{Name: "rate", Usage: "open loop: attempts per second of all machines together, latency from the planned instant"},
	}, faultFlags()...)
}

// outcomeFlags are the flags that say what becomes of it.
func outcomeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "fail-if", Usage: "exit 1 if `EXPR` holds for a level; may be repeated"},
		&cli.BoolFlag{Name: "strict", Usage: "exit 3 if a level is not steady or the load side is not to be believed"},
		outFlag("keep runs in `DIR`"),
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
