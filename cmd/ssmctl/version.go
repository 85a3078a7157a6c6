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
		Flags:        []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON, with the SHA-256 of the program"}},
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if c.Bool("json") {
				return versionJSON(c)
			}
			_, err := fmt.Fprintf(c.App.Writer, "ssmctl %s %s %s/%s\n", versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

func versionJSON(c *cli.Context) error {
	sum, err := binaryHash()
	if err != nil {
		return err
	}
	return printJSON(c, struct {
		Version string `json:"version"`
		Go      string `json:"go"`
		OS      string `json:"os"`
		Arch    string `json:"arch"`
		SHA256  string `json:"binary_sha256"`
	}{versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH, sum})
}

// noArguments refuses what a command would otherwise ignore.
func noArguments(c *cli.Context) error {
	if extra := c.Args().First(); extra != "" {
		return usagef("%s: what is %q? %s --help shows the form", verb(c), extra, c.Command.HelpName)
	}
	return nil
}
