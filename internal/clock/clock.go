// Package clock is the one place where a process reads the time: the shells take
// now from it and hand it to the cores.
package clock

import "time"

// origin is when the process began. It carries a wall-clock reading, which names
// the epoch, and a monotonic one, which everything after is measured by.
var origin = time.Now()

var originUnix = time.Duration(origin.UnixNano())

// Now returns the time since the Unix epoch. It advances evenly and never goes
// back, whatever is done to the wall clock after the process began.
func Now() time.Duration { return originUnix + time.Since(origin) }
