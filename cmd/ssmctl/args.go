package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves a command's flags before its arguments, so that both orders
// work: the library takes whatever follows the first argument for arguments.
func flagsFirst(commands []*cli.Command, args []string) []string {
	var flags []cli.Flag
	at := 1
	for at < len(args) {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[at]) })
		if i < 0 {
			break
		}
		commands, flags = commands[i].Subcommands, commands[i].Flags
		at++
	}
	if at == 1 || len(commands) > 0 {
		return args // no command, or a subcommand that does not exist: not ours to judge
	}
	ordered, rest := slices.Clone(args[:at]), []string(nil)
	for at < len(args) {
		arg := args[at]
		at++
		switch {
		case arg == "--help" || arg == "-h":
			return append(slices.Clone(ordered), arg) // whatever else is said
		case arg == "--":
			return slices.Concat(ordered, []string{arg}, rest, args[at:])
		case len(arg) < 2 || arg[0] != '-':
			rest = append(rest, arg)
		default:
			ordered = append(ordered, arg)
			if takesValue(flags, arg) && at < len(args) {
				ordered = append(ordered, args[at])
				at++
			}
		}
	}
	return slices.Concat(ordered, rest)
}

// badValue finds in the library's words the flag whose value it cannot read.
var badValue = regexp.MustCompile(`^invalid .*" for (?:flag )?--([a-z-]+): `)

// valueForm says how the value of the flag that an error is about is written; empty if the
// error is about something else, or says it itself.
func valueForm(flags []cli.Flag, text string) string {
	bad := badValue.FindStringSubmatch(text)
	if bad == nil {
		return ""
	}
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), bad[1]) })
	if i < 0 {
		return ""
	}
	switch flags[i].(type) {
	case *cli.DurationFlag:
		return "times are written 10s or 2m"
	case *cli.IntFlag, *cli.Int64Flag:
		return "whole numbers are written 12 or 1000"
	case *cli.UintFlag, *cli.Uint64Flag:
		return "whole numbers from 0 on are written 12 or 1000"
	case *cli.Float64Flag:
		return "numbers are written 12 or 0.5"
	case *cli.BoolFlag:
		return "it is given alone, or as =true or =false"
	}
	return ""
}

// takesValue reports whether the argument after a flag belongs to it.
func takesValue(flags []cli.Flag, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			_, isSwitch := f.(*cli.BoolFlag)
			return !isSwitch
		}
	}
	return false // unknown, or written --name=value
}
