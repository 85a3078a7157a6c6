package fleet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// lockWithin is longer than another ssmctl takes to start a thousand bricks.
	lockWithin = 2 * time.Minute
	lockRetry  = 20 * time.Millisecond
)

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
