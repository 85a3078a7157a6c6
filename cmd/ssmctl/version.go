package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// version is set by the linker for a release.
var version = ""

// versionName returns the release, or what the build knows of its source.
func versionName() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:         "version",
		Usage:        "say which ssmctl this is",
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.App.Writer, "ssmctl %s %s %s/%s\n", versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// noArguments refuses what a command would otherwise ignore.
func noArguments(c *cli.Context) error {
	if extra := c.Args().First(); extra != "" {
		return usagef("%s: what is %q? %s --help shows the form", verb(c), extra, c.Command.HelpName)
	}
	return nil
}
