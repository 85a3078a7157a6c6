// Package self is the program that runs: what is copied and shipped, so that bricks and
// agents are the same ssmctl as the one that started them.
//
// It is a leaf of fleet and imports nothing of this module.
package self

import (
	"fmt"
	"os"
)

// Open opens the running program even if its file is gone, where the system can.
func Open() (*os.File, error) {
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return os.Open(path)
}
