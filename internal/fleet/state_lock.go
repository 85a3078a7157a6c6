package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// lockWithin is longer than another ssmctl takes to start a thousand bricks.
	lockWithin = 2 * time.Minute
	lockRetry  = 20 * time.Millisecond
)

// BusyError says that another load uses the bricks.
type BusyError struct{ Holder string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("another load is using these bricks (%s): wait for it or stop it, or measure embedded ones by --bricks", e.Holder)
}

// Occupy reserves the running bricks for one load, so that no second one changes their
// protection or empties their inboxes meanwhile. The error is a *BusyError if another
// has done so. The system takes the reservation back from a process that dies.
func (s *State) Occupy() (release func(), err error) {
	path := filepath.Join(s.dir, "load")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, recordMode)
	if err != nil {
		return nil, &StateError{Path: path, Err: err, Hint: elsewhere}
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 100)) // only words for the message
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &BusyError{Holder: strings.TrimSpace(string(holder))}
		}
		return nil, &StateError{Path: path, Err: err, Hint: elsewhere}
	}
	if err := errors.Join(f.Truncate(0), writeAt(f, fmt.Sprintf("pid %d\n", os.Getpid()))); err != nil {
		_ = f.Close()
		return nil, &StateError{Path: path, Err: err, Hint: elsewhere}
	}
	return func() { _ = f.Close() }, nil // which unlocks it
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// lock makes the directory and keeps every other ssmctl from changing what runs. The
// system takes the lock back from a process that dies.
func (s *State) lock(ctx context.Context) (unlock func(), err error) {
	if err := s.make(); err != nil {
		return nil, err
	}
	path := filepath.Join(s.dir, "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, recordMode)
	if err != nil {
		return nil, &StateError{Path: path, Err: err, Hint: elsewhere}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockWithin, errors.New("another ssmctl is starting or stopping bricks"))
	defer cancel()
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // which unlocks it
		}
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			select {
			case <-retry.C:
				continue
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
		}
		_ = f.Close()
		return nil, &StateError{Path: path, Err: err, Hint: "try again when it is done"}
	}
}
