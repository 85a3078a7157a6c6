//go:build !soak

package sim

import "time"

const (
	soak     = false
	cleanFor = 20 * time.Second
)
