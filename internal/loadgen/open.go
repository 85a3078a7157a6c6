package loadgen

import (
	"math/rand/v2"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// maxOpenUsers bounds the users of one machine in an open loop. An arrival that
// finds all of them busy counts as an error: the load side itself is at its end.
const maxOpenUsers = 100_000

// arrivals is the open loop: attempts arrive as a Poisson process, whether or not
// those before have ended. Each takes a user that is idle, or a new one.
type arrivals struct {
	rate float64 // per second; 0 is no open loop
	next time.Duration
	idle []int32
}

// draw sets the next arrival, an exponential time after this one.
func (a *arrivals) draw(after time.Duration, rng *rand.Rand) {
	a.next = after + time.Duration(rng.ExpFloat64()/a.rate*float64(time.Second))
}

// arrive begins the attempt that is due. Its latency counts from the instant at
// which it was to begin, so that a stall of the load side cannot hide (coordinated omission).
func (m *Machine) arrive(now time.Duration) {
	planned := m.arrivals.next
	m.arrivals.draw(planned, m.rng)
	m.rec.Lag(now, now-planned)
	if n := len(m.arrivals.idle); n > 0 {
		i := m.arrivals.idle[n-1]
		m.arrivals.idle = m.arrivals.idle[:n-1]
		m.begin(now, i, planned)
		return
	}
	if len(m.users) == maxOpenUsers {
		m.rec.Attempt(now, Attempt{Machine: m.cfg.ID, Outcome: session.Error})
		return
	}
	m.addUser()
	m.begin(now, int32(len(m.users)-1), planned)
}
