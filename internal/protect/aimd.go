package protect

import "time"

// The constants of SSM's rule. NSDI 2004 publishes the rule (additive increase,
// multiplicative decrease, a floor) without its numbers; these are the customary ones of
// TCP's congestion avoidance (RFC 5681) and the ones with which the published Figure 9 comes out.
const (
	aimdStart    = 1    // a stub that has just met a brick knows nothing of it
	aimdDecrease = 0.5  // of the window, on every operation that times out
	aimdFloor    = 1    // SSM never stops asking a brick altogether
	aimdCap      = 1000 // a bound for a brick that never times out
)

// aimd grows by 1/window on an answer, which is about one operation per round trip.
type aimd struct{ size float64 }

func newAIMD() *aimd { return &aimd{size: aimdStart} }

func (w *aimd) Admit(_ time.Duration, inFlight int) bool { return float64(inFlight+1) <= w.size }

func (w *aimd) Ack(_, _ time.Duration) { w.size = min(aimdCap, w.size+1/w.size) }

func (w *aimd) Timeout(time.Duration, int) { w.size = max(aimdFloor, w.size*aimdDecrease) }

func (w *aimd) Share(float64) {}

func (w *aimd) Size() float64 { return w.size }
