//go:build soak

package sim

import "time"

// A soak looks at all levels, for long.
const (
	soak     = true
	cleanFor = 30 * time.Minute
)
