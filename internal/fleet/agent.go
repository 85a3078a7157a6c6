package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// endWithin is how long a child that has lost its standard input may take to end.
const endWithin = 2 * time.Second

// Agent is a child process that speaks over its standard input and output.
type Agent struct {
	In  io.WriteCloser
	Out io.Reader
	cmd *exec.Cmd
}

// StartAgent starts this very program again with the given arguments. What the
// child says on its standard error goes to errOut. It is out of reach of the terminal's
// signals: its end is the end of its standard input, whatever becomes of this process.
func StartAgent(errOut io.Writer, args ...string) (*Agent, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program to start a load agent: %w", err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Stderr = errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	a := &Agent{cmd: cmd}
	if a.In, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start a load agent: %w", err)
	}
	if a.Out, err = cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("start a load agent: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a load agent: %w", err)
	}
	return a, nil
}

// Close ends the agent and waits for it. One that does not end by itself is killed,
// which is an error.
func (a *Agent) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = a.cmd.Process.Kill() // it has ended in the meantime, if this fails
		}
	})
	defer stop()
	_ = a.In.Close() // an agent that has ended has closed its end
	go func() { _, _ = io.Copy(io.Discard, a.Out) }()
	if err := a.cmd.Wait(); err != nil {
		return fmt.Errorf("load agent (pid %d): %w", a.cmd.Process.Pid, err)
	}
	return nil
}
