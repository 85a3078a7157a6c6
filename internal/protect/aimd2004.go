package protect

import "time"

// The constants of the authors' own code, which the paper does not print. They differ
// from those of aimd in every respect but the floor.
const (
	aimd2004Start    = 250
	aimd2004Increase = 1         // for every answer, whatever the window
	aimd2004Decrease = 5.0 / 8.0 // of what is in flight, not of the window
	aimd2004Quiet    = 0.5       // of a time-out between two decreases
	aimd2004Floor    = 1
)

// aimd2004 cuts to a share of what is in flight, so that a window which was never
// filled has no say in where it lands.
type aimd2004 struct {
	size  float64
	quiet time.Duration
	until time.Duration // no decrease before
}

func newAIMD2004(timeout time.Duration, _ uint64) Window {
	return &aimd2004{size: aimd2004Start, quiet: time.Duration(aimd2004Quiet * float64(timeout))}
}

func (w *aimd2004) Admit(_ time.Duration, inFlight int) bool { return float64(inFlight+1) <= w.size }

func (w *aimd2004) Ack(_, _ time.Duration) { w.size = min(aimdCap, w.size+aimd2004Increase) }

func (w *aimd2004) Timeout(now time.Duration, inFlight int) {
	if now < w.until {
		return
	}
	w.until = now + w.quiet
	w.size = min(w.size, max(aimd2004Floor, aimd2004Decrease*float64(inFlight)))
}

func (w *aimd2004) Share(float64) {}

func (w *aimd2004) Size() float64 { return w.size }
