package protect

import (
	"math"
	"time"
)

// open is a window without bound: what is in flight is counted and nothing is rejected.
// It makes the window's absence one more policy, for comparison in the same run.
type open struct{}

func newOpen(time.Duration, uint64) Window { return open{} }

func (open) Admit(time.Duration, int) bool { return true }

func (open) Ack(_, _ time.Duration) {}

func (open) Timeout(time.Duration, int) {}

func (open) Share(float64) {}

func (open) Size() float64 { return math.Inf(1) }
