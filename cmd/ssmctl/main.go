// Command ssmctl finds out where a service falls off the cliff under overload, and
// what each protection buys.
//
// One file per verb: flags are validated, the call goes inward, the result is
// rendered. Nothing imports this package.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
)

func main() {
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit code.
func run(args []string, in io.Reader, out, errOut io.Writer) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // whoever reads our output may leave; the run does not end with them
	defer signal.Stop(signals)
	go func() {
		<-signals
		cancel()
		<-signals // the second one leaves at once
		_, _ = io.WriteString(errOut, "ssmctl: left at once: see ssmctl protect status for what the bricks were left with\n")
		os.Exit(exitInterrupted)
	}()
	app := newApp(in, leavable{out}, errOut)
	err := app.RunContext(ctx, flagsFirst(app.Commands, args))
	if err != nil {
		_, _ = fmt.Fprintln(errOut, "ssmctl: "+inWords(err)) // stderr may be gone; the exit code says it too
	}
	return exitCode(err)
}

// inWords is an error as people read it: the library's word for an interruption is none.
func inWords(err error) string {
	return strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted")
}

func newApp(in io.Reader, out, errOut io.Writer) *cli.App {
	return &cli.App{
		Name:                   "ssmctl",
		Usage:                  "find the cliff under overload, and what each protection buys",
		Reader:                 in,
		Writer:                 out,
		ErrWriter:              errOut,
		ExitErrHandler:         func(*cli.Context, error) {},
		OnUsageError:           onUsageError,
		Action:                 unknownVerb,
		HideVersion:            true,
		UseShortOptionHandling: false,
		// A fault has commas in it: a flag that may be repeated takes one value at a time.
		DisableSliceFlagSeparator: true,
		Commands: []*cli.Command{
			brickCommand(), protectCommand(), watchCommand(), loadCommand(), simCommand(), reportCommand(),
			runsCommand(), profileCommand(), versionCommand(), agentCommand(), sweepCommand(), cleanCommand(),
			hostsCommand(), hostFactsCommand(),
		},
	}
}

// onUsageError keeps a bad flag from printing the help on stdout.
func onUsageError(c *cli.Context, err error, _ bool) error {
	text := oneDash.ReplaceAllString(err.Error(), " --$1")
	if form := valueForm(c.Command.Flags, text); form != "" {
		text += ", " + form
	}
	return usagef("%s: %s --help lists the flags", text, c.Command.HelpName)
}

// oneDash finds the library's way to write a flag.
var oneDash = regexp.MustCompile(` -([a-z])`)

// verb names the command under way as its caller wrote it, without the program.
func verb(c *cli.Context) string { return strings.TrimPrefix(c.Command.HelpName, c.App.Name+" ") }

// unknownVerb answers a call without a verb, or with one that does not exist.
func unknownVerb(c *cli.Context) error {
	if verb := c.Args().First(); verb != "" {
		return usagef("no command %q: ssmctl --help lists them", verb)
	}
	return cli.ShowAppHelp(c)
}
