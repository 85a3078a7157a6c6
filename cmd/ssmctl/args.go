package main

import (
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
