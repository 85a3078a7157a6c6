package search

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/sim"
)

// checker is the witness of a run. All that it holds against the cores it has counted
// itself, from what went over the wire and what users were told.
type checker struct {
	c        *Case
	world    sim.World
	epoch    time.Duration
	now      time.Duration
	end      time.Duration // of the users' time; 0 is not yet
	machines []*machine
	bricks   []*node
	writes   record
	answered map[user]time.Duration // last answer
	tally    tally
	audit    audit
	trace    trace
	sights   uint64
	instant  uint64 // sights at the present instant
	sweep    time.Duration
}

// user names a user.
type user struct {
	machine int
	tag     uint64
}

// stuck is how many sights of one instant mean that time stands still: far more than all
// users and all that waits.
const stuck = 2_000_000

// sweepEvery is how often all states that must be held are asked for.
const sweepEvery = time.Second

func newChecker(c *Case) *checker {
	return &checker{c: c, writes: record{states: make(map[name]*state)}, answered: make(map[user]time.Duration)}
}

// Start implements sim.Witness.
func (k *checker) Start(w sim.World) {
	k.world, k.epoch, k.now = w, w.Epoch(), w.Epoch()
	k.trace.epoch = k.epoch
	machines := k.c.Machines
	for _, f := range k.c.faults() {
		machines += f.Machines
	}
	for i := range machines {
		k.machines = append(k.machines, newMachine(k, i))
	}
	for i := range k.c.Bricks {
		k.bricks = append(k.bricks, newNode(k, session.BrickID(i+1)))
	}
}

// See implements sim.Witness.
func (k *checker) See(s *sim.Sight) {
	k.trace.add(s)
	k.sights++
	if k.instant++; s.Now != k.now {
		k.instant = 0
	}
	if k.instant > stuck {
		k.failf(Running, -1, 0, "more than %d things happened at the same instant", stuck)
	}
	if s.Now < k.now {
		k.failf(Running, -1, 0, "time went back")
	}
	k.now = s.Now
	switch s.What {
	case sim.Began, sim.Sent, sim.Delivered, sim.Ended, sim.Settled, sim.Met, sim.Parted:
		k.machines[s.Machine].see(s)
	case sim.Arrived, sim.Served, sim.Discarded, sim.Refused, sim.Killed:
		k.bricks[s.Brick-1].see(s)
	case sim.Flipped:
		k.bricks[s.Brick-1].flipped(s.Struck)
	case sim.FaultBegins, sim.FaultEnds:
		if s.Brick > 0 {
			k.bricks[s.Brick-1].fault(s)
		}
	case sim.UsersStop:
		k.end = k.now
		k.checkProgress()
	case sim.InboxesEmpty:
		k.beginAudit()
		for _, n := range k.bricks {
			n.empty()
		}
	case sim.Over:
		k.over()
	}
	if s.What == sim.Settled && k.now >= k.sweep {
		k.sweep = k.now + sweepEvery
		k.checkHeld()
	}
}

// over runs when the level is done.
func (k *checker) over() {
	for _, m := range k.machines {
		m.over()
	}
	k.checkHeld()
}

// checkProgress runs when the users stop.
func (k *checker) checkProgress() {
	if !k.c.promised() {
		return
	}
	calm := k.now - k.epoch - time.Duration(k.c.Warmup) - k.c.troubled()
	for m := range k.c.Machines {
		for tag := range uint64(k.c.Threads) {
			last, ever := k.answered[user{m, tag}]
			if !ever {
				last = k.epoch
			}
			if k.now-last > k.c.answersWithin() {
				k.failf(Progress, m, 0, "user %d of machine %d had no answer for %v; the load is light and the last fault was over %v ago", tag, m, k.now-last, calm)
			}
		}
	}
}
