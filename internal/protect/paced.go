package protect

import (
	"math/rand/v2"
	"time"
)

// The constants of paced. Times are shares of the time-out, so that they hold for any
// service; all are chosen by simulation (docs/policies.md shows with what result).
const (
	pacedTarget = 0.3  // a round trip that is no sign of a queue
	pacedSpan   = 0.4  // beyond the target: where every answer is a sign of overload
	pacedStart  = 1    // a stub that has just met a brick knows nothing of it
	pacedCap    = 1000 // a bound for a brick that is never slow
	pacedCut    = 0.5  // of the window, at the end of the span

	pacedTurns  = 0.03  // turns begun in a time-out, at first
	pacedFewer  = 0.8   // of the turns, when one ended with its first answer
	pacedMore   = 0.006 // added to them, when one was longer
	pacedJitter = 0.5   // of the pause between two turns, so that stubs do not come together
	pacedLeast  = 1e-4  // turns begun in a time-out: nobody is given up for good
)

// paced keeps the queue of a brick short by its delay instead of waiting for time-outs,
// and shares a brick between more stubs than it can hold operations of.
//
// A window of two or more shrinks with the delay of an answer, once in a round trip. A
// window of one becomes a turn: the stub keeps one operation in flight, the next as soon
// as the last is answered, until it draws the lot to leave. The longer the delay, the likelier the lot.
// A stub that has left comes back after a pause. So those that are in keep the brick busy and
// see its delay with every answer, and no stub needs to know how many there are.
//
// The pause adapts: turns that end with their first answer mean that too many stubs come
// back too often.
type paced struct {
	size    float64 // operations; 0 is out of turn
	timeout float64 // nanoseconds
	cut     time.Duration
	back    time.Duration // out of turn: when the next one begins
	turns   float64       // begun in a time-out
	answers int           // in this turn
	rng     *rand.Rand
}

func newPaced(timeout time.Duration, seed uint64) Window {
	return &paced{size: pacedStart, timeout: float64(timeout), turns: pacedTurns, rng: rand.New(rand.NewPCG(seed, 0))}
}

func (w *paced) Admit(now time.Duration, inFlight int) bool {
	if w.size == 0 && inFlight == 0 && now >= w.back {
		w.size, w.answers = 1, 0
	}
	return float64(inFlight+1) <= w.size
}

func (w *paced) Sent(time.Duration) {}

func (w *paced) Ack(now, rtt time.Duration) {
	w.answers++
	delay := (float64(rtt)/w.timeout - pacedTarget) / pacedSpan
	switch {
	case delay > 0:
		w.shrink(now, now-rtt, min(delay, 1))
	case w.size >= 1:
		w.size = min(pacedCap, w.size+1/w.size)
	}
}

func (w *paced) Timeout(now time.Duration, _ int) { w.shrink(now, now, 1) }

// shrink answers a delay of 0 to 1 seen by an operation that was sent at some instant.
func (w *paced) shrink(now, sent time.Duration, delay float64) {
	switch {
	case w.size >= 2:
		if sent >= w.cut { // else the last cut has had no time to show
			w.cut = now
			w.size = max(1, w.size*(1-float64(pacedCut*delay))) // rounded apart, as in profile.Spread
		}
	case w.size > 1:
		w.size = max(1, w.size-delay)
	case w.size == 1 && w.rng.Float64() < delay:
		w.leave(now)
	}
}

// leave ends a turn.
func (w *paced) leave(now time.Duration) {
	if w.answers <= 1 {
		w.turns = max(pacedLeast, w.turns*pacedFewer)
	} else {
		w.turns = min(1, w.turns+pacedMore)
	}
	pause := w.timeout / w.turns * (1 + float64(pacedJitter*(2*w.rng.Float64()-1))) // likewise
	w.size, w.back = 0, now+time.Duration(pause)
}

func (w *paced) Size() float64 { return w.size }
