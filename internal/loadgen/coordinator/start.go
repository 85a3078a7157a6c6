package coordinator

import (
	"context"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen/message"
)

const (
	pings      = 5               // round trips, of which the shortest counts
	pongWithin = 5 * time.Second // of each
)

// pongs is when each agent was pinged last.
type pongs map[*agent]time.Time

// measureTrips measures how long an order and its answer take, agent by agent. The
// shortest of a few is the way alone, without what else kept either end busy.
func (g *gathering) measureTrips() error {
	for _, a := range g.c.live() {
		a.trip = 0
	}
	for n := uint64(1); n <= pings; n++ {
		g.expect()
		for _, a := range g.c.live() {
			g.pongs[a] = time.Now()
			if err := g.order(a, message.Order{Ping: n}); err != nil {
				return err
			}
		}
		if err := g.until(context.Background(), pongWithin, "answer"); err != nil {
			return err
		}
	}
	if g.c.told {
		return nil
	}
	g.c.told = true
	for _, agents := range byHost(g.c.live()) {
		g.c.cfg.RoundTrip(agents[0].host, longestTrip(agents))
	}
	return nil
}

func (g *gathering) pong(r *report) {
	trip := r.at.Sub(g.pongs[r.from])
	if r.from.trip == 0 || trip < r.from.trip {
		r.from.trip = trip
	}
	delete(g.waiting, r.from)
}

func longestTrip(agents []*agent) (longest time.Duration) {
	for _, a := range agents {
		longest = max(longest, a.trip)
	}
	return longest
}

// start tells every agent when to begin, as a delay from when it hears of it. The order
// is on its way for half a round trip, which is taken off: all begin at about the same instant.
func (g *gathering) start() error {
	agents := g.c.live()
	at := time.Now().Add(startDelay + longestTrip(agents)/2)
	g.began = at
	for _, a := range agents {
		a.heard = at
		delay := time.Until(at) - a.trip/2
		if err := g.order(a, message.Order{Start: &delay}); err != nil {
			return err
		}
	}
	return nil
}
