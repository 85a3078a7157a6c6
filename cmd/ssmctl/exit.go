package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
)

// The exit codes, which scripts depend on.
const (
	exitDone           = 0
	exitFailIf         = 1   // a --fail-if held
	exitViolation      = 1   // a search found a violation
	exitUsage          = 2   // the command line cannot be
	exitInvalid        = 3   // the measurement is not to be believed, with --strict
	exitInfrastructure = 4   // something outside did not do its part
	exitInterrupted    = 130 // by a signal
)

// leavable is an output whose reader may leave, as head does: what is written from then on is
// nobody's loss, and the command goes on to the exit code that it would have had.
type leavable struct{ io.Writer }

func (l leavable) Write(p []byte) (int, error) {
	n, err := l.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		return len(p), nil
	}
	return n, err
}

// codeError is an error that has chosen its exit code.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

// usage marks an error as one of the command line.
func usage(err error) error { return &codeError{exitUsage, err} }

// usagef is usage of a new error: say which flag, and what would be right.
func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// exitCode maps an error to the code of the process, once and here.
func exitCode(err error) int {
	var coded *codeError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, new(*exec.ExitError)): // of a command that reaches a host; it is an ExitCoder too
		return exitInfrastructure
	case errors.As(err, new(cli.ExitCoder)): // of the library itself: help for what does not exist
		return exitUsage
	case errors.Is(err, coordinator.ErrInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitInfrastructure
	}
}
