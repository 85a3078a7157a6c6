package brick

import (
	"math/rand/v2"
	"time"
)

// Defect is what is wrong with a brick on purpose. The zero value is healthy.
type Defect struct {
	Slow       time.Duration // more for every message, served or not; of the processor's time
	Drop       float64       // share of the replies that are never sent; 0 to 1
	StallUntil time.Duration // until then the processor begins nothing, and what arrives waits
}

// dropStream is the stream of a queue's seed that decides which replies are dropped. It is
// not that of the costs, which a defect must not change.
const dropStream = 5

// flaw is a defect in force.
type flaw struct {
	Defect
	held time.Duration // the end of the last stall
	rng  *rand.Rand    // made with the first dropping
	seed uint64
}

// Break puts a defect in the place of the one before. What the processor has at hand ends
// as planned; a stall that is lifted early ends now.
func (q *Queue) Break(now time.Duration, d Defect) {
	f := &q.flaw
	f.held = max(min(f.held, now), d.StallUntil)
	if d.Drop > 0 && f.rng == nil {
		f.rng = rand.New(rand.NewPCG(f.seed, dropStream))
	}
	f.Defect = d
}

// Defect returns the defect in force.
func (q *Queue) Defect() Defect { return q.flaw.Defect }

// mute reports whether the next reply is one that is dropped.
func (f *flaw) mute() bool { return f.Drop > 0 && f.rng.Float64() < f.Drop }

// start returns when the operation that arrived then begins, as known by now.
func (q *Queue) start(now, arrived time.Duration) time.Duration {
	if q.model.Emulated() || q.flaw.Slow > 0 {
		return max(arrived, q.busyTill, q.flaw.held)
	}
	return max(now, q.flaw.held)
}
