package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// ErrGone is the error of an order to a process that has ended, or whose pid has
// passed to another one.
var ErrGone = errors.New("no longer runs")

// process is what the system says of a pid.
type process struct {
	start   string // names the instant of its start, this boot included
	command string // its arguments, by blanks
}

// Alive reports whether the process that was recorded still runs.
func (r *Record) Alive() (bool, error) {
	err := r.check()
	if errors.Is(err, ErrGone) {
		return false, nil
	}
	return err == nil, err
}

// check is nil if the pid is held by the process that was recorded.
func (r *Record) check() error {
	p, err := inspect(r.PID)
	if err != nil {
		return fmt.Errorf("%s: %w", r.ID, err)
	}
	if p.start != r.ProcessStart || !strings.Contains(p.command+" ", r.mark()+" ") ||
		!strings.Contains(p.command, "/"+r.BinarySHA256+"/") {
		return fmt.Errorf("%s: %w: pid %d is another process by now", r.ID, ErrGone, r.PID)
	}
	return nil
}

// mark is what tells the process from all others by its arguments.
func (r *Record) mark() string { return strings.Join(serveArguments(r.Run), " ") }

// Signal sends a signal to the recorded process and to no other: where the system has
// process handles, the handle is taken first and checked then, so the pid cannot pass to another
// process in between. It returns an error that is ErrGone if the process is no longer there.
func (r *Record) Signal(sig os.Signal) error {
	handle, err := os.FindProcess(r.PID)
	if err != nil {
		return fmt.Errorf("%s: pid %d: %w", r.ID, r.PID, err)
	}
	defer func() { _ = handle.Release() }() // it cannot fail in a way that matters
	if err := r.check(); err != nil {
		return err
	}
	switch err := handle.Signal(sig); {
	case errors.Is(err, os.ErrProcessDone), errors.Is(err, syscall.ESRCH):
		return fmt.Errorf("%s: %w", r.ID, ErrGone)
	case err != nil:
		return fmt.Errorf("%s: signal pid %d: %w", r.ID, r.PID, err)
	}
	return nil
}

// gone waits until the process has ended. It returns the cause of ctx if that ends first.
func (r *Record) gone(ctx context.Context) error {
	const every = 5 * time.Millisecond
	look := time.NewTicker(every)
	defer look.Stop()
	for {
		if alive, err := r.Alive(); err != nil || !alive {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
		}
	}
}
