package protect

import "time"

// The constants of a fair share. What is a matter of time is given in time-outs, so that it holds
// for any service. All are chosen by simulation (docs/policies.md shows with what result).
const (
	shareTarget = 0.28 // time-outs: the wait in the inbox that keeps a brick busy and no more
	shareDown   = 10   // time-outs in which a wait of twice the target divides the share by e
	shareUp     = 20   // time-outs in which an idle brick multiplies it by e
	shareSteep  = -3   // no wait counts as more than four times the target
	shareSlack  = 8    // a share that is so many times what waits is not what holds stubs back
	shareLeast  = 2    // operations that a brick wants in flight, of all its stubs together
	shareMost   = 1000 // operations in flight of one stub: a bound for a brick that is never slow

	// Below this share a stub is out most of the time and hears of its share by heartbeat,
	// a second apart, so there is no sense in changing it faster than shareSlowest says.
	shareRare    = 0.25
	shareSlowest = 1500 * time.Millisecond
)

// FairShare is the brick's half of paced: how many operations each of its stubs may have
// in flight. The brick measures how long operations wait in its inbox, whatever becomes of them,
// and lets the share grow while that is less than the target, shrink while it is more. All stubs
// are told the same, so none needs to find out by itself how many others there are.
//
// The zero value is that of a brick that has served nobody.
type FairShare struct {
	ops   float64 // 0 is not known yet
	stubs int
	last  time.Duration // when the share last changed
}

// Stubs tells how many stubs are connected.
func (f *FairShare) Stubs(n int) { f.stubs = n }

// Forget makes the share that of a brick that has served nobody.
func (f *FairShare) Forget() { f.ops, f.last = 0, 0 }

// Ops returns the share: operations in flight for each stub, above 0.
func (f *FairShare) Ops() float64 {
	if f.ops == 0 {
		return min(1, f.floor())
	}
	return f.ops
}

// floor is far below what keeps a brick busy. It bounds how long the way back is after a
// backlog that took long to clear.
func (f *FairShare) floor() float64 { return shareLeast / float64(max(1, f.stubs)) }

// Took tells that one of so many operations in the inbox has left it, how long it waited, and
// of its time-out.
func (f *FairShare) Took(now, waited, timeout time.Duration, waiting int) {
	elapsed := float64(min(now-f.last, time.Second))
	f.last = now
	if timeout <= 0 || elapsed <= 0 {
		return
	}
	target := shareTarget * float64(timeout)
	room := 1 - float64(waited)/target // 1 is an idle brick, below 0 is overload
	reaction := shareUp * float64(timeout)
	if room < 0 {
		room, reaction = max(room, shareSteep), shareDown*float64(timeout)
		elapsed = min(elapsed, target) // of a brick that stood still only the waits count
	}
	ops := f.Ops()
	if ops < shareRare {
		reaction = max(reaction, min(float64(shareSlowest), reaction*shareRare/ops))
	}
	if room > 0 && ops > shareSlack*float64(waiting) {
		return // nobody uses what there is
	}
	f.ops = min(shareMost, max(f.floor(), ops*(1+room*elapsed/reaction)))
}
