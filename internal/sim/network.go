package sim

import (
	"math/rand/v2"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/session"
)

// Network models what lies between machines and bricks. The zero value is a wire
// without latency that loses nothing.
type Network struct {
	OneWay     time.Duration // latency each way
	Jitter     float64       // its uniform spread, as a share of it; 0 to 1. Messages may overtake each other
	Loss       float64       // share of messages that vanish on the way; 0 to 1
	Rate       float64       // of each brick's link, each way, in bytes per second; 0 is without bound
	Partitions []Partition
}

// Partition cuts a brick off from all machines: what either sends to the other in that
// time vanishes. A stub is not told; it sees time-outs.
type Partition struct {
	Brick session.BrickID
	From  time.Duration // from the start of the level, its warm-up included
	For   time.Duration
}

// impairment is what is wrong with a brick's connection to the network, both ways, beside what
// the network does to all. The zero value is nothing.
type impairment struct {
	cut    bool
	loss   float64
	delays []delay
}

// delay is added to the latency: by, and a uniform spread that is a share of it.
type delay struct {
	by     time.Duration
	jitter float64
}

// link is one direction of a brick's connection to the network.
type link struct {
	busyTill time.Duration // with what was sent before
}

// carry returns when a message of so many bytes, sent now, arrives; false if it does not.
func (n *Network) carry(now time.Duration, way *impairment, l *link, size int, rng *rand.Rand) (time.Duration, bool) {
	if way.cut || (n.Loss > 0 && rng.Float64() < n.Loss) || (way.loss > 0 && rng.Float64() < way.loss) {
		return 0, false
	}
	sent := now
	if n.Rate > 0 {
		sent = max(now, l.busyTill) + time.Duration(float64(size)/n.Rate*float64(time.Second))
		l.busyTill = sent
	}
	at := sent + profile.Spread(rng, n.OneWay, n.Jitter)
	for _, d := range way.delays {
		at += profile.Spread(rng, d.by, d.jitter)
	}
	return at, true
}
