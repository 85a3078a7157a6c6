package main

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// parseSize reads a size in bytes, such as 8KiB, 1GB or 8192.
func parseSize(s string) (int64, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size: write 8KiB, 1GB or 8192", s)
	}
	return int64(n), nil
}
