package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// readyWithin is how long a brick may take to listen; it is milliseconds on a quiet machine.
	readyWithin = 15 * time.Second
	// startsAtOnce bounds the processes that wait for the processor together.
	startsAtOnce = 16
	maxAnswer    = 64 << 10
	tailLines    = 5
)

var (
	errNotReady = fmt.Errorf("it was not ready within %v: try again, or start fewer at once", readyWithin)
	errEnded    = errors.New("it ended before it was ready: try again")
)

// answer is what a brick says, once, when it listens or cannot.
type answer struct {
	Addr  string `json:"addr,omitempty"`
	Error string `json:"error,omitempty"`
}

// KeepWord tells a brick that it is recorded, and Place.Perform that its bricks are. One that loses this process before it
// has heard the word ends, so no brick runs that nobody knows of.
const KeepWord = "keep\n"

// serveArguments are those of a brick's process.
func serveArguments(run string) []string { return []string{"brick", "serve", "--run", run} }

// raise starts a process for each order and records them. Either all run when it
// returns or none does; then records may be left, of processes that are gone.
func (s *State) raise(ctx context.Context, sum string, orders []Order) (_ []Record, err error) {
	children := make([]*child, len(orders))
	defer func() {
		for _, c := range children {
			if err != nil && c != nil {
				c.abandon()
			}
		}
	}()
	starts, startCtx := errgroup.WithContext(ctx)
	starts.SetLimit(startsAtOnce)
	for i := range orders {
		starts.Go(func() (err error) {
			children[i], err = s.launch(startCtx, sum, orders[i])
			return err
		})
	}
	if err := starts.Wait(); err != nil {
		return nil, err
	}
	records := make([]Record, len(orders))
	for i, c := range children {
		records[i] = c.record
		if err := s.save(&c.record); err != nil {
			return nil, err
		}
	}
	for _, c := range children {
		if err := c.keep(); err != nil {
			return nil, err
		}
	}
	for _, c := range children {
		_ = c.cmd.Process.Release() // it is the system's to wait for now
	}
	return records, nil
}

// child is a brick's process as long as it may still be given up.
type child struct {
	record Record
	cmd    *exec.Cmd
	orders *os.File // what it is told
}

// launch starts a process and waits until it listens.
func (s *State) launch(ctx context.Context, sum string, o Order) (*child, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails: see its documentation
	c := &child{record: Record{
		Order: o, Run: hex.EncodeToString(id[:]), BinarySHA256: sum, Log: s.logPath(o.ID), Started: time.Now().UTC(),
	}}
	answers, err := c.start(s.binaryPath(sum))
	if err != nil {
		return nil, &StartError{ID: o.ID, Err: err}
	}
	defer func() { _ = answers.Close() }() // it was only read
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, errNotReady)
	defer cancel()
	if err := c.await(ctx, answers); err != nil {
		c.abandon()
		return nil, c.failure(err)
	}
	return c, nil
}

// start runs the process detached from the terminal, with one pipe each way.
func (c *child) start(binary string) (answers *os.File, err error) {
	log, err := os.OpenFile(c.record.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, recordMode)
	if err != nil {
		return nil, &StateError{Path: c.record.Log, Err: err, Hint: elsewhere}
	}
	defer func() { _ = log.Close() }() // the process has its own
	answers, answer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe: %w: close other programs", err)
	}
	defer func() { _ = answer.Close() }()
	order, orders, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pipe: %w: close other programs", err), answers.Close())
	}
	defer func() { _ = order.Close() }()
	c.orders = orders
	c.cmd = exec.Command(binary, serveArguments(c.record.Run)...)
	c.cmd.Dir = "/"
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.ExtraFiles = []*os.File{answerFD - firstExtra: answer, orderFD - firstExtra: order}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("run a copy of ssmctl: %w: is %s on a file system that forbids programs?", err, binary),
			answers.Close(), orders.Close())
	}
	return answers, nil
}

// await gives the order and completes the record from the answer.
func (c *child) await(ctx context.Context, answers *os.File) error {
	stop := context.AfterFunc(ctx, func() {
		// Both are pipes of the poller, which take a deadline.
		_ = answers.SetDeadline(time.Unix(1, 0))
		_ = c.orders.SetDeadline(time.Unix(1, 0))
	})
	defer stop()
	var a answer
	err := json.NewEncoder(c.orders).Encode(c.record.Order)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(answers, maxAnswer)).Decode(&a)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%w (%w)", errEnded, err)
	case a.Error != "":
		return errors.New(a.Error)
	}
	p, err := inspect(c.cmd.Process.Pid)
	if err != nil {
		return err
	}
	c.record.Addr, c.record.PID, c.record.ProcessStart = a.Addr, c.cmd.Process.Pid, p.start
	return nil
}

// keep lets go of the process: from now on it stays.
func (c *child) keep() error {
	_, err := c.orders.WriteString(KeepWord)
	if err = errors.Join(err, c.orders.Close()); err != nil {
		return c.failure(fmt.Errorf("%w (%w)", errEnded, err))
	}
	return nil
}

// abandon ends the process and waits for it. Nothing is lost: it has served nobody.
func (c *child) abandon() {
	_ = c.orders.Close()     // it may be closed already
	_ = c.cmd.Process.Kill() // it may have ended already
	_ = c.cmd.Wait()         // it was killed
}

// failure adds to an error what the log says, where the brick has not said it itself.
func (c *child) failure(err error) error {
	failed := &StartError{ID: c.record.ID, Err: err}
	if errors.Is(err, errEnded) || errors.Is(err, errNotReady) {
		failed.Log, _ = LastLines(c.record.Log, tailLines) // without it the error stands all the same
	}
	return failed
}
