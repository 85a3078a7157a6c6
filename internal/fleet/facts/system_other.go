//go:build !linux

package facts

import (
	"os"

	"golang.org/x/sys/unix"
)

// Faults by nft, tc and cgroups are for Linux.
func system() Facts {
	f := Facts{Root: os.Geteuid() == 0}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		f.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return f
}
