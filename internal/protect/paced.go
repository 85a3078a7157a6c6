package protect

import (
	"math"
	"math/rand/v2"
	"time"
)

const (
	// pacedRound is the time, in time-outs, in which a stub with a share below one has one turn. It
	// makes the turn of one stub among a thousand about as long as a round trip under load.
	pacedRound = 48
	// pacedStart is the share of a stub that has just met a brick, in operations, for the
	// instant until it is told.
	pacedStart = 1
	pacedLeast = 1e-4 // operations: nobody is given up for good
)

// paced keeps to the share that the brick announces: so many operations in flight, the
// same for every stub of that brick. See FairShare for how the brick finds it.
//
// A share is seldom a whole number. Its whole part is always there. Its fraction is the part of
// the time in which there is one operation more: one turn in each round, which begins at an instant drawn
// by lot anew for every round. So at any time about as many stubs have a turn as the shares add up to. A
// stub's turns at all its bricks begin together, for a write needs several with room at once.
type paced struct {
	share float64       // operations
	round time.Duration // its length
	seed  uint64
	shift time.Duration // rounds of different stubs begin at different times
	drawn int64         // the round whose lot is known
	lot   float64       // where in the round the turn begins, as a part of it
}

func newPaced(timeout time.Duration, seed uint64) Window {
	w := &paced{share: pacedStart, round: pacedRound * max(timeout, 1), seed: seed, drawn: -1}
	w.shift = time.Duration(w.draw(math.MaxInt64) * float64(w.round))
	return w
}

func (w *paced) Admit(now time.Duration, inFlight int) bool {
	whole, part := math.Modf(w.share)
	return float64(inFlight) < whole || (float64(inFlight) < whole+1 && w.turn(now, part))
}

// turn reports whether now lies in the stub's turn, which lasts for a part of every round.
func (w *paced) turn(now time.Duration, part float64) bool {
	now += w.shift
	if round := int64(now / w.round); round != w.drawn {
		w.drawn, w.lot = round, w.draw(round)
	}
	since := float64(now%w.round)/float64(w.round) - w.lot
	if since < 0 { // the end of a turn that runs into the end of the round is at its beginning
		since++
	}
	return since < part
}

// draw returns the lot of a round, from 0 to below 1.
func (w *paced) draw(round int64) float64 {
	return float64(rand.NewPCG(w.seed, uint64(round)).Uint64()>>11) / (1 << 53)
}

func (w *paced) Ack(_, _ time.Duration) {}

// Timeout halves the share until the brick is heard again.
func (w *paced) Timeout(time.Duration, int) { w.share = max(pacedLeast, w.share/2) }

func (w *paced) Share(ops float64) { w.share = max(pacedLeast, min(shareMost, ops)) }

func (w *paced) Size() float64 { return w.share }
