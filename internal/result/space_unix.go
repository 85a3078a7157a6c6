//go:build linux || darwin

package result

import "syscall"

// freeBytes returns what an ordinary user may still write under path; it reports
// false where the system does not say.
func freeBytes(path string) (uint64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
