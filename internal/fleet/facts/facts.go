// Package facts tells what a host is and what can be done to it, and compares its clock
// with that of whoever asks.
//
// Both ends are here: Serve runs on the host, in ssmctl host-facts, and Ask where that
// was started. It is a leaf of fleet and imports nothing of this module.
package facts

import (
	"os/exec"
	"runtime"
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
}

// Gather looks around.
func Gather() Facts {
	f := system()
	f.OS, f.Arch, f.Cores = runtime.GOOS, runtime.GOARCH, runtime.NumCPU()
	f.NFT, f.TC = installed("nft"), installed("tc")
	return f
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
