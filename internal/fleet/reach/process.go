package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

const (
	// endWithin is how long a program that has lost its standard input may take to end,
	// the way back included.
	endWithin = 3 * time.Second
	// connectedWithin is when a program that says nothing is taken to run: until then its
	// start counts as a dial.
	connectedWithin = 2 * time.Second
)

// Process is a program on a host that speaks over its standard input and output.
type Process struct {
	In  io.WriteCloser
	Out io.Reader

	host    *Host
	argv    []string
	cmd     *exec.Cmd
	errs    *tail
	session *session
}

// Start runs a program there and leaves it running until it is closed. What it says on
// its standard error goes to stderr, which may be nil, and the last of it into the error
// of Close. The context is that of the way there, not of the program.
func (h *Host) Start(ctx context.Context, stderr io.Writer, argv ...string) (*Process, error) {
	s, err := h.session(ctx)
	if err != nil {
		return nil, err
	}
	// Not ctx: an interrupted run collects what its agents have measured.
	cmd := h.command(context.WithoutCancel(ctx), s, argv)
	p := &Process{host: h, argv: argv, cmd: cmd, errs: &tail{copy: stderr}, session: s}
	cmd.Stderr = p.errs
	out, err := p.pipes()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.release()
		return nil, h.failure(argv, err, p.errs)
	}
	p.Out = out
	if s.m == nil {
		p.Out = &firstByte{Reader: out, seen: s.release}
		time.AfterFunc(connectedWithin, s.release)
	}
	return p, nil
}

func (p *Process) pipes() (out io.Reader, err error) {
	if p.In, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	if out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("standard output: %w", err)
	}
	return out, nil
}

// Close ends the standard input of the program and waits for its end. If that was not
// with exit code 0 the error is a *CommandError, also if the program did not end and the
// way to it was cut.
func (p *Process) Close() error {
	defer p.session.release()
	stuck := time.AfterFunc(endWithin, func() {
		_ = p.cmd.Process.Kill() // it has ended in the meantime, if this fails
	})
	_ = p.In.Close() // a program that has ended has closed its end
	go func() { _, _ = io.Copy(io.Discard, p.Out) }()
	err := p.cmd.Wait()
	inTime := stuck.Stop()
	switch {
	case err == nil || isLeftOpen(err):
		return nil
	case !inTime:
		err = fmt.Errorf("it did not end within %s of losing its standard input: %w", endWithin, err)
	}
	return p.host.failure(p.argv, err, p.errs)
}

// Stderr returns the last lines of what the program has said on its standard error.
func (p *Process) Stderr() string { return lastLines(p.errs.text()) }

// isLeftOpen reports whether a command was good, but something that it left behind holds its output.
func isLeftOpen(err error) bool { return errors.Is(err, exec.ErrWaitDelay) }

// firstByte tells when something has been read.
type firstByte struct {
	io.Reader
	seen func()
}

func (r *firstByte) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.seen()
	return n, err
}
