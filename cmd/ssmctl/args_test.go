package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestFlagsFirst(t *testing.T) {
	commands := newApp(strings.NewReader(""), io.Discard, io.Discard).Commands
	for given, want := range map[string]string{
		"report RUN --csv":                "report --csv RUN",
		"report RUN --out DIR --csv":      "report --out DIR --csv RUN",
		"report RUN --out=DIR RUN2":       "report --out=DIR RUN RUN2",
		"report --csv -- --csv":           "report --csv -- --csv",
		"report A --csv -- B":             "report --csv -- A B",
		"report A --out":                  "report --out A",
		"report A --bogus B":              "report --bogus A B",
		"report A -":                      "report A -",
		"brick logs 1 --lines 3":          "brick logs --lines 3 1",
		"brick bogus 1 --lines 3":         "brick bogus 1 --lines 3",
		"bogus A --csv":                   "bogus A --csv",
		"load --machines 4 --quiet extra": "load --machines 4 --quiet extra",
		"":                                "",
	} {
		got := flagsFirst(commands, append([]string{"ssmctl"}, strings.Fields(given)...))
		if !slices.Equal(got[1:], strings.Fields(want)) {
			t.Errorf("%q: %q, want %q", given, got[1:], want)
		}
	}
}

// Whatever the kind of a flag, a value that cannot be read is answered with how it is written.
func TestEveryFlagSaysItsForm(t *testing.T) {
	app := newApp(strings.NewReader(""), io.Discard, io.Discard)
	seen := 0
	var try func(args []string, c *cli.Command)
	try = func(args []string, c *cli.Command) {
		for _, f := range c.Flags {
			var want string
			value := "=1e3x"
			switch f.(type) {
			case *cli.StringFlag, *cli.StringSliceFlag:
				continue // any text will do
			case *cli.DurationFlag:
				want = "times are written 10s"
			case *cli.BoolFlag:
				want = "it is given alone"
			case *cli.Uint64Flag:
				want, value = "whole numbers from 0 on", "=-1"
			case *cli.IntFlag:
				want = "whole numbers are"
			case *cli.Float64Flag:
				want = "numbers are written 12 or 0.5"
			default:
				t.Errorf("%v: --%s is of a kind whose form nobody says: %T", args, f.Names()[0], f)
				continue
			}
			seen++
			err := app.Run(slices.Concat([]string{"ssmctl"}, args, []string{"--" + f.Names()[0] + value}))
			if exitCode(err) != exitUsage || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--help lists the flags") {
				t.Errorf("%v --%s: %v, want %q", args, f.Names()[0], err, want)
			}
		}
		for _, sub := range c.Subcommands {
			try(append(slices.Clone(args), sub.Name), sub)
		}
	}
	for _, c := range app.Commands {
		try([]string{c.Name}, c)
	}
	if seen < 30 {
		t.Errorf("%d flags were tried", seen)
	}
}
