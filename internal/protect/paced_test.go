package protect

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const quick = timeout / 10 // an answer without a queue

// presence returns the part of many rounds in which one more operation than so many is admitted.
func presence(w *paced, inFlight int) float64 {
	const steps, rounds = 1000, 50
	admitted := 0
	for i := range rounds * steps {
		if w.Admit(w.round-w.shift+time.Duration(i)*w.round/steps, inFlight) {
			admitted++
		}
	}
	return float64(admitted) / (rounds * steps)
}

// The whole part of a share is always there, its fraction for that part of the time.
func TestPacedHoldsItsShare(t *testing.T) {
	for _, share := range []float64{0.01, 0.25, 0.5, 1, 1.3, 2, 7.75} {
		w := newPaced(timeout, 7).(*paced)
		w.Share(share)
		whole, part := math.Modf(share)
		if whole > 0 && presence(w, int(whole)-1) != 1 {
			t.Errorf("share %v: not always room for %v", share, whole)
		}
		if got := presence(w, int(whole)); math.Abs(got-part) > 0.003 {
			t.Errorf("share %v: room for one more %v of the time, want %v", share, got, part)
		}
		if got := presence(w, int(whole)+1); got != 0 {
			t.Errorf("share %v: room for two more %v of the time", share, got)
		}
	}
}

// Of many stubs with the same share about as many have a turn at any time as the shares add up
// to, whether they have met the brick together or not.
func TestPacedTurnsAreSpread(t *testing.T) {
	const stubs, share = 1000, 0.02
	var all [stubs]*paced
	for i := range all {
		all[i] = newPaced(timeout, uint64(i)).(*paced)
		all[i].Share(share)
	}
	least, most := stubs, 0
	for at := time.Hour; at < time.Hour+5*all[0].round; at += all[0].round / 200 {
		n := 0
		for _, w := range all {
			if w.Admit(at, 0) {
				n++
			}
		}
		least, most = min(least, n), max(most, n)
	}
	// Binomial: 20 and a standard deviation of 4.4.
	if least < 3 || most > 40 {
		t.Errorf("%d to %d of %d stubs in turn, want about %v", least, most, stubs, stubs*share)
	}
}

// A stub's turns at all its bricks begin together, also when their shares differ.
func TestPacedTurnsBeginTogether(t *testing.T) {
	a, b := newPaced(timeout, 3).(*paced), newPaced(timeout, 3).(*paced)
	a.Share(0.1)
	b.Share(0.2)
	for at := time.Duration(0); at < 20*a.round; at += a.round / 500 {
		if a.Admit(at, 0) && !b.Admit(at, 0) {
			t.Fatalf("at %v: a turn at the brick with the smaller share alone", at)
		}
	}
}

// A time-out counts until the brick is heard again.
func TestPacedHalvesUntilHeard(t *testing.T) {
	w := newPaced(timeout, 1)
	w.Share(4)
	if w.Timeout(0, 1); w.Size() != 2 {
		t.Errorf("share %v after a time-out, want 2", w.Size())
	}
	if w.Share(4); w.Size() != 4 {
		t.Errorf("share %v, want what the brick says", w.Size())
	}
}

// feed tells a share of operations that waited so long, each a millisecond after the one before.
func feed(f *FairShare, from time.Duration, n int, waited time.Duration) time.Duration {
	for range n {
		from += time.Millisecond
		f.Took(from, waited, timeout, 100)
	}
	return from
}

func TestFairShare(t *testing.T) {
	var f FairShare
	if f.Ops() != 1 {
		t.Errorf("%v operations of a brick that has served nobody, want 1", f.Ops())
	}
	f.Stubs(100)
	if f.Ops() != 0.02 {
		t.Errorf("%v operations for each of 100 stubs at first, want 2 for all", f.Ops())
	}
	now := feed(&f, time.Second, 1000, 0)
	idle := f.Ops()
	if idle <= 0.02 {
		t.Errorf("%v operations after a second without a wait, want more", idle)
	}
	now = feed(&f, now, 1000, timeout)
	if f.Ops() >= idle {
		t.Errorf("%v operations after a second of waits, want fewer than %v", f.Ops(), idle)
	}
	before := f.Ops()
	wait := shareTarget * float64(timeout)
	if feed(&f, now, 1000, time.Duration(wait)); math.Abs(f.Ops()/before-1) > 1e-3 {
		t.Errorf("%v operations after a second on the target, want %v still", f.Ops(), before)
	}
	if f.Forget(); f.Ops() != 0.02 {
		t.Errorf("%v operations after a reset, want 0.02", f.Ops())
	}
}

// A brick that stood still does not take the standstill for a second of overload.
func TestFairShareAfterAStandstill(t *testing.T) {
	var f FairShare
	now := feed(&f, time.Second, 5000, 0)
	before := f.Ops()
	if f.Took(now+time.Second, time.Second, timeout, 100); f.Ops() < 0.8*before {
		t.Errorf("%v operations after one late operation, %v before", f.Ops(), before)
	}
}

// A share that nobody uses up does not grow: there is no telling what it would let in.
func TestFairShareNeedsUse(t *testing.T) {
	var f FairShare
	for now := time.Second; now < time.Minute; now += time.Millisecond {
		f.Took(now, 0, timeout, 3)
	}
	if f.Ops() < 3 || f.Ops() > 3*shareSlack*1.1 {
		t.Errorf("%v operations where three at a time wait, want at most about %d", f.Ops(), 3*shareSlack)
	}
}

// Whatever happens, a share lies within its bounds.
func TestFairShareBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f FairShare
		now := time.Duration(0)
		for range rapid.IntRange(0, 200).Draw(t, "events") {
			f.Stubs(rapid.IntRange(0, 10_000).Draw(t, "stubs"))
			now += time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "after"))
			f.Took(now, time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "waited")),
				time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "timeout")), rapid.IntRange(1, 1000).Draw(t, "waiting"))
			if ops := f.Ops(); !(ops > 0 && ops <= shareMost) {
				t.Fatalf("%v operations", ops)
			}
		}
	})
}

func TestAIMD2004(t *testing.T) {
	w := newAIMD2004(timeout, 1)
	if w.Size() != 250 {
		t.Errorf("starts at %v, want 250", w.Size())
	}
	w.Ack(0, quick)
	if w.Size() != 251 {
		t.Errorf("%v after an answer, want 251", w.Size())
	}
	w.Timeout(time.Second, 80)
	if w.Size() != 50 {
		t.Errorf("%v after a time-out with 80 in flight, want 50", w.Size())
	}
	w.Timeout(time.Second+timeout/2-1, 16)
	if w.Size() != 50 {
		t.Errorf("%v: cut twice in half a time-out", w.Size())
	}
	w.Timeout(time.Second+timeout/2, 1)
	if w.Size() != 1 {
		t.Errorf("%v, want the floor of 1", w.Size())
	}
}
