package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/report"
)

func profileCommand() *cli.Command {
	return &cli.Command{
		Name:  "profile",
		Usage: "show the systems under test that can be emulated",
		Subcommands: []*cli.Command{
			{
				Name:         "list",
				Usage:        "list the built-in profiles",
				OnUsageError: onUsageError,
				Action:       profileList,
			},
			{
				Name:      "show",
				Usage:     "print a built-in profile as YAML, to read or to start one of your own from",
				ArgsUsage: "NAME",
				Description: "ssmctl profile show nsdi04 > mine.yaml     # then give it a name of its own\n" +
					"ssmctl load --machines 4,14 --profile mine.yaml",
				OnUsageError: onUsageError,
				Action:       profileShow,
			},
		},
		OnUsageError: onUsageError,
		Action:       unknownSubcommand,
	}
}

// unknownSubcommand answers a verb that was given no known form.
func unknownSubcommand(c *cli.Context) error {
	if name := c.Args().First(); name != "" {
		return usagef("%s: no form %q: ssmctl %s --help lists them", c.Command.Name, name, c.Command.Name)
	}
	return cli.ShowSubcommandHelp(c)
}

func profileList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	table := report.Grid{Header: []string{"profile", "bricks", "description"}, Left: []bool{true, true, true}}
	for _, name := range profile.Names() {
		p, err := profile.ByName(name)
		if err != nil {
			return err
		}
		table.Add(p.Name, p.Processor.Kind, p.Description)
	}
	return table.Write(c.App.Writer)
}

func profileShow(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("profile show: name one of %v", profile.Names())
	}
	src, err := profile.Source(c.Args().First())
	if err != nil {
		return usage(err)
	}
	_, err = c.App.Writer.Write(src)
	return err
}

// loadProfile finds a profile by its name, or reads it from a file.
func loadProfile(nameOrFile string) (profile.Profile, error) {
	if slices.Contains(profile.Names(), nameOrFile) {
		return profile.ByName(nameOrFile)
	}
	src, err := readFile(nameOrFile)
	if err != nil {
		return profile.Profile{}, fmt.Errorf("%q is neither a profile (%v) nor a file that can be read: %w", nameOrFile, profile.Names(), err)
	}
	p, err := profile.Parse(src)
	if err != nil {
		return profile.Profile{}, fmt.Errorf("%s: %w", nameOrFile, err)
	}
	if own, err := profile.ByName(p.Name); err == nil && !p.Same(&own) {
		return profile.Profile{}, fmt.Errorf("%s: name: %s is built in, and this one differs from it: give it a name of its own", nameOrFile, p.Name)
	}
	return p, nil
}
