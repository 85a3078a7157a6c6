//go:build linux || darwin

package result

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// hold reserves a run for its one writer. The system takes it back from a process that
// dies. The error is errHeld if another process has it.
func hold(path string) (*os.File, error) {
	f, err := os.Open(filepath.Join(path, manifestFile))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // it was only to be locked
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errHeld
		}
		return nil, err
	}
	return f, nil
}

// held reports whether a process is writing to a run.
func held(path string) bool {
	f, err := hold(path)
	if err == nil {
		_ = f.Close() // which gives it back
	}
	return errors.Is(err, errHeld)
}
