package loadgen

import (
	"math"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

func openWorld(rate float64) *world {
	return newWorld(0, protect.Off, func(cfg *MachineConfig) { cfg.Rate = rate })
}

// Arrivals are a Poisson process: in a tenth of a second their mean is their variance.
func TestOpenLoopIsPoisson(t *testing.T) {
	const rate, seconds = 300.0, 100
	w := openWorld(rate)
	w.silent = true // so that each is one write, and none reads back
	w.run(seconds * second)
	var tenths [10 * seconds]float64
	arrivals := 0.0
	for i, s := range w.sent {
		if i%3 == 0 { // a write's first copy
			tenths[min(s.at*10/second, 10*seconds-1)]++
			arrivals++
		}
	}
	if sd := math.Sqrt(rate * seconds); math.Abs(arrivals-rate*seconds) > 4*sd {
		t.Errorf("%v arrivals, want %v ± %.0f", arrivals, rate*seconds, sd)
	}
	mean, variance := arrivals/float64(len(tenths)), 0.0
	for _, n := range tenths {
		variance += (n - mean) * (n - mean) / float64(len(tenths)-1)
	}
	if ratio := variance / mean; ratio < 0.82 || ratio > 1.18 { // 4 standard deviations for 1,000 counts
		t.Errorf("variance is %v of the mean, want 1", ratio)
	}
}

// Users that are idle are used again; there are only as many as are ever busy at once.
func TestOpenLoopReusesUsers(t *testing.T) {
	w := openWorld(200)
	w.run(20 * second)
	if n := len(w.m.users); n > 12 { // 0.4 are busy on the average
		t.Errorf("%d users for 200 attempts of 2 ms per second", n)
	}
	all := w.sum(t)
	if all.offered() < 3700 || all.offered() != all.Count[session.OK] {
		t.Errorf("outcomes %v", all.Count)
	}
	reads := 0
	for _, s := range w.sent {
		if s.Op == session.Read {
			reads++
		}
	}
	if reads < 1800 || reads > 2100 {
		t.Errorf("%d reads of %d attempts: users do not read back what they wrote", reads, all.offered())
	}
}

// A stall of the load side shows in the latencies: they count from the planned instant.
func TestOpenLoopCountsFromThePlannedInstant(t *testing.T) {
	w := openWorld(100)
	w.run(second)
	w.sum(t) // only what comes now counts
	planned := w.m.arrivals.next
	w.now += 500 * ms // nobody calls
	w.m.Step(w.now)
	began, first := 0, w.now
	for i := range w.m.users {
		if at := w.m.users[i].began; at >= planned {
			began++
			first = min(first, at)
		}
	}
	if first != planned || began < 20 || w.m.arrivals.next <= w.now {
		t.Errorf("%d attempts began, the first at %v, the next at %v; planned from %v to %v", began, first, w.m.arrivals.next, planned, w.now)
	}
	if lag := w.rec.LagAt(1); lag < 450*ms || lag > 510*ms {
		t.Errorf("the worst lag is %v, want that of the stall", lag)
	}
	w.run(2 * second)
	all := w.sum(t)
	if mean := all.Busy / time.Duration(all.offered()); mean < 100*ms {
		t.Errorf("a mean latency of %v: the stall is hidden", mean)
	}
}

// At its bound the load side says that it is at its end, and sends nothing.
func TestOpenLoopWithoutAnIdleUser(t *testing.T) {
	w := openWorld(1000)
	w.m.users = make([]user, maxOpenUsers)
	w.run(second)
	all := w.sum(t)
	if len(w.sent) > 0 || all.Count[session.Error] < 850 || all.offered() != all.Count[session.Error] {
		t.Errorf("%d requests, outcomes %v", len(w.sent), all.Count)
	}
}
