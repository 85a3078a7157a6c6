package chaos

import (
	"fmt"
	"strconv"
	"strings"
)

// units of memory, the largest first.
var units = []struct {
	name string
	size int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// maxBytes bounds the bytes of a fault: more than any brick has.
const maxBytes = 1 << 50

// parseBytes reads a whole number of one of the units, such as 512MiB; without one, of bytes.
func parseBytes(s string) (int64, error) {
	number, unit := s, int64(1)
	for _, u := range units {
		if rest, named := strings.CutSuffix(s, u.name); named {
			number, unit = rest, u.size
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > maxBytes/unit {
		return 0, fmt.Errorf("bytes %q: choose a whole number of B, KiB, MiB or GiB, such as 512MiB", s)
	}
	return n * unit, nil
}

// formatBytes is the inverse of parseBytes, in the largest unit that divides it.
func formatBytes(n int64) string {
	for _, u := range units {
		if n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
