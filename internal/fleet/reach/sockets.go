package reach

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	socketDirs = "ssmctl-ssh-*" // below the directory for temporary files
	// longestDir leaves room for the name of a socket (12), and for the end of 17 that ssh
	// gives it before it is in place, within the 104 bytes that every system takes.
	longestDir = 104 - 1 - 1 - 12 - 17
)

// socketDir is the private directory of a run's control sockets. It is locked for as long
// as its process lives, so that others can tell what a killed one has left.
type socketDir struct {
	path string
	lock *os.File
	gone atomic.Bool
}

// newSocketDir makes one, and removes those that killed processes of this user have left.
func newSocketDir() (*socketDir, error) {
	base := os.TempDir()
	if len(base)+1+len(socketDirs)+10 > longestDir {
		base = "/tmp"
	}
	sweepSockets(base)
	for range 3 { // a sweep may have been faster than the lock
		path, err := os.MkdirTemp(base, socketDirs)
		if err != nil {
			return nil, fmt.Errorf("make a directory for ssh's control sockets: %w: set TMPDIR to one of your own", err)
		}
		lock, err := lockDir(path)
		if err == nil {
			return &socketDir{path: path, lock: lock}, nil
		}
	}
	return nil, fmt.Errorf("lock a directory for ssh's control sockets below %s: set TMPDIR to one of your own", base)
}

var errNotOurs = errors.New("it belongs to somebody else")

// lockDir locks a directory of this user that is still in its place.
func lockDir(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		var now os.FileInfo
		now, err = os.Lstat(path)
		if err == nil && !os.SameFile(info, now) {
			err = os.ErrNotExist
		}
	}
	if owner, ok := infoOwner(info); err == nil && ok && owner != os.Geteuid() {
		err = errNotOurs
	}
	if err != nil {
		_ = f.Close() // it was only read
		return nil, err
	}
	return f, nil
}

func infoOwner(info os.FileInfo) (uid int, ok bool) {
	if info == nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// sweepSockets removes directories that nobody holds any more.
func sweepSockets(base string) {
	paths, _ := filepath.Glob(filepath.Join(base, socketDirs)) // the pattern is right
	for _, path := range paths {
		lock, err := lockDir(path)
		if err != nil {
			continue // in use, or not ours
		}
		d := &socketDir{path: path, lock: lock}
		_ = d.remove() // whoever comes next tries again
	}
}

// remove ends the connections and removes the directory.
func (d *socketDir) remove() error {
	if d.gone.Swap(true) {
		return nil
	}
	endMasters(d.path)
	err := os.RemoveAll(d.path)
	_ = d.lock.Close() // it was only read
	if err != nil {
		return fmt.Errorf("remove ssh's control sockets: %w", err)
	}
	return nil
}

func (d *socketDir) closed() bool { return d.gone.Load() }

// name is the path of a socket, the same for the same host and count.
func (d *socketDir) name(h *Host, count int) string {
	return filepath.Join(d.path, socketName(slices.Index(h.way.hosts, h), count))
}
