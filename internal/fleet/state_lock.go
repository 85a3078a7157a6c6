package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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

// The lock files that are not of a single start or stop.
const (
	loadLock  = "load"  // of a load, for as long as it runs
	claimLock = "claim" // of a cluster that starts bricks on a host
)

// heldError is the error of a lock that another process has.
type heldError struct{ holder string }

func (e *heldError) Error() string { return "in use by another ssmctl (" + e.holder + ")" }

// grab opens a lock file and locks it. The system takes the lock back from a process that
// dies. While it is held the file may be removed: whoever comes second sees that and opens anew.
func grab(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, recordMode)
		if err != nil {
			return nil, &StateError{Path: path, Err: err, Hint: elsewhere}
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && InPlace(f, path) {
			return f, nil
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			holder, _ := io.ReadAll(io.LimitReader(f, 100)) // only words for the message
			err = &heldError{holder: strings.TrimSpace(string(holder))}
		}
		_ = f.Close()
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return nil, err
		}
	}
}

// InPlace reports whether a path still names an open file. A lock on one that was removed
// keeps nobody out.
func InPlace(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

// sign writes into a lock who holds it.
func sign(f *os.File, who string) error {
	return errors.Join(f.Truncate(0), writeAt(f, who+"\n"))
}

// removeLock removes a lock file unless it is held, and reports whether it is gone.
func removeLock(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	f, err := grab(path)
	if err != nil {
		return false
	}
	err = os.Remove(path) // it is nobody's
	_ = f.Close()
	return err == nil
}

// Occupy reserves the running bricks for one load, so that no second one changes their
// protection or empties their inboxes meanwhile. The error is a *BusyError if another
// has done so. The system takes the reservation back from a process that dies.
func (s *State) Occupy() (release func(), err error) {
	f, err := s.occupy("pid " + strconv.Itoa(os.Getpid()))
	var held *heldError
	if errors.As(err, &held) {
		return nil, &BusyError{Holder: held.holder}
	}
	return f, err
}

// occupy is Occupy under a name of the caller's, with a *heldError.
func (s *State) occupy(who string) (release func(), err error) {
	path := filepath.Join(s.dir, loadLock)
	f, err := grab(path)
	if err != nil {
		return nil, err
	}
	if err := sign(f, who); err != nil {
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
