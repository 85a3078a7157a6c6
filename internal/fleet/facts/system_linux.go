package facts

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func system() Facts {
	return Facts{Kernel: kernel(), MemoryFree: memoryFree(), Root: os.Geteuid() == 0, Cgroup: cgroup()}
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// memoryFree is what the kernel holds available without swapping.
func memoryFree() uint64 {
	for _, words := range lines("/proc/meminfo") {
		if words[0] == "MemAvailable:" && len(words) > 1 {
			kib, _ := strconv.ParseUint(words[1], 10, 64) // 0 is: not known
			return kib * 1024
		}
	}
	return 0
}

// cgroup reports whether there is a second version that may be written to.
func cgroup() bool {
	for _, words := range lines("/proc/self/mounts") {
		if len(words) > 2 && words[2] == "cgroup2" && unix.Access(words[1], unix.W_OK) == nil {
			return true
		}
	}
	return false
}

// lines returns the words of each line that has any; none of a file that cannot be read.
func lines(path string) [][]string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	var all [][]string
	for in := bufio.NewScanner(f); in.Scan(); {
		if words := strings.Fields(in.Text()); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}
