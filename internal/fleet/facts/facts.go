// Package facts tells what a host is and what can be done to it, and compares its clock
// with that of whoever asks.
//
// Both ends are here: Serve runs on the host, in ssmctl host-facts, and Ask where that
// was started. It is a leaf of fleet and imports nothing of this module.
package facts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/adrg/xdg"
	"golang.org/x/sys/unix"
)

// Facts are those of the host that this process runs on.
type Facts struct {
	OS         string `json:"os"` // as Go names it, like Arch
	Arch       string `json:"arch"`
	Kernel     string `json:"kernel"`
	Cores      int    `json:"cores"`             // that this process may use
	MemoryFree uint64 `json:"memory_free_bytes"` // for a new process; 0 if not known
	// What faults need. Without root nothing else counts.
	Root   bool `json:"root"`
	NFT    bool `json:"nft"` // is installed
	TC     bool `json:"tc"`  // is installed
	Cgroup bool `json:"cgroup"`
	// Where ssmctl keeps records, logs and copies of itself.
	State State `json:"state"`
}

// State is a directory that need not be there yet.
type State struct {
	Dir  string `json:"dir,omitempty"` // empty if nobody looked
	Free uint64 `json:"free_bytes"`    // for files of this user
	Need uint64 `json:"need_bytes"`    // for the program, and some logs
	Err  string `json:"error,omitempty"`
}

// logRoom is what a place takes beside the program: records and logs, with room to spare.
const logRoom = 8 << 20

// Wrong says why the directory will not do, in words; "" if it will.
func (s *State) Wrong() string {
	switch {
	case s.Err != "":
		return fmt.Sprintf("nothing can be kept in %s: %s", s.Dir, s.Err)
	case s.Free < s.Need:
		return fmt.Sprintf("%s has room for %d MB, and %d MB are needed", s.Dir, s.Free>>20, (s.Need>>20)+1)
	}
	return ""
}

// Gather looks around.
func Gather() Facts {
	f := system()
	f.OS, f.Arch, f.Cores = runtime.GOOS, runtime.GOARCH, runtime.NumCPU()
	f.State = state(filepath.Join(xdg.StateHome, "ssmctl"))
	f.NFT, f.TC = installed("nft"), installed("tc")
	return f
}

// state looks at the directory, or at the nearest one above that there is, and makes nothing.
func state(dir string) State {
	s := State{Dir: dir, Need: logRoom}
	if exe, err := os.Executable(); err == nil {
		if info, err := os.Stat(exe); err == nil {
			s.Need += uint64(info.Size())
		}
	}
	there := dir
	for {
		info, err := os.Stat(there)
		if errors.Is(err, fs.ErrNotExist) && there != filepath.Dir(there) {
			there = filepath.Dir(there)
			continue
		}
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no directory", there)
		}
		if err == nil {
			err = unix.Access(there, unix.W_OK|unix.X_OK)
		}
		var fsys unix.Statfs_t
		if err == nil {
			err = unix.Statfs(there, &fsys)
		}
		if err != nil {
			s.Err = err.Error()
			return s
		}
		s.Free = fsys.Bavail * uint64(fsys.Bsize)
		return s
	}
}

// installed also looks where the programs for root are: not in every PATH.
func installed(program string) bool {
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/"} {
		if _, err := exec.LookPath(dir + program); err == nil {
			return true
		}
	}
	return false
}
