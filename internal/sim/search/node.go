package search

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/sim"
)

// node is what the checker knows of a brick.
type node struct {
	k       *checker
	id      session.BrickID
	life    int // which one of its lives
	waiting []waiting
	bytes   int           // they weigh
	free    time.Duration // the processor is not before
	slow    time.Duration // more per message, by the faults that are active
	filled  int64         // of its memory, by those
	damaged map[name]bool // states that a bit was flipped in, and the names that it gave them
	tables  map[session.Expiry]*table
	books   books
}

// waiting is a request in an inbox.
type waiting struct {
	machine int
	id      uint64
	arrived time.Duration
	timeout time.Duration
	weight  int
}

// table is the states of a brick that expire together.
type table struct {
	elapses time.Duration
	states  map[name]bool
}

// books are the checker's own.
type books struct{ served, discarded, refused, dropped uint64 }

func newNode(k *checker, id session.BrickID) *node {
	return &node{k: k, id: id, damaged: make(map[name]bool), tables: make(map[session.Expiry]*table)}
}

func (n *node) see(s *sim.Sight) {
	switch s.What {
	case sim.Arrived:
		n.arrived(s)
	case sim.Served:
		n.served(s)
	case sim.Discarded, sim.Refused:
		n.unserved(s)
	case sim.Killed:
		n.life++
		n.empty()
		clear(n.tables)
		clear(n.damaged)
		return
	}
	n.checkBooks()
}

// empty lets go of what waits.
func (n *node) empty() { n.waiting, n.bytes, n.free = n.waiting[:0], 0, 0 }

// fault notes what a brick's service may cost, and what is taken of its memory.
func (n *node) fault(s *sim.Sight) {
	slow, filled := time.Duration(0), int64(0)
	switch s.Fault.Kind {
	case chaos.Slow:
		slow = s.Fault.By
	case chaos.Fill:
		filled = n.k.world.Filled(s.Fault)
	}
	if s.What == sim.FaultEnds {
		slow, filled = -slow, -filled
	}
	n.slow += slow
	n.filled += filled
}

func (n *node) arrived(s *sim.Sight) {
	weight := brick.OpOverhead + len(s.Request.Value)
	_, bound := n.k.world.Bounds()
	full := len(n.waiting) > 0 && int64(n.bytes+weight) > bound
	if full != s.Dropped {
		n.k.failf(Bounds, s.Machine, n.id, "%s has an inbox of %d bytes with room for %d: a request of %d was dropped: %v", n.id, n.bytes, bound, weight, s.Dropped)
	}
	if s.Dropped {
		n.books.dropped++
		return
	}
	n.waiting = append(n.waiting, waiting{s.Machine, s.Request.ID, n.k.now, s.Request.Timeout, weight})
	n.bytes += weight
}

// take finds a request in the inbox and takes it out.
func (n *node) take(s *sim.Sight) waiting {
	for i, w := range n.waiting {
		if w.machine != s.Machine || w.id != s.Request.ID {
			continue
		}
		if i > 0 && n.k.world.Setting(n.id).Queue != protect.CoDel {
			n.k.failf(Order, s.Machine, n.id, "%s took a request of machine %d before %d older ones", n.id, s.Machine, i)
		}
		n.waiting = append(n.waiting[:i], n.waiting[i+1:]...)
		n.bytes -= w.weight
		return w
	}
	n.k.failf(Order, s.Machine, n.id, "%s took a request that was not in its inbox", n.id)
	return waiting{}
}

// least and most are what serving a request may cost.
func (n *node) cost(r *session.Request) (least, most time.Duration) {
	mean := float64(n.k.c.Put)
	if r.Op == session.Read {
		mean = float64(n.k.c.Get)
	}
	const rounding = 1
	spread := n.k.c.CostJitter
	return time.Duration(mean*(1-spread)) - rounding, time.Duration(mean*(1+spread)) + rounding
}

func (n *node) served(s *sim.Sight) {
	w := n.take(s)
	n.books.served++
	waited := n.k.now - w.arrived
	if rule := n.k.world.Setting(n.id).Queue; rule != protect.Keep && waited > w.timeout {
		n.k.failf(Deadline, s.Machine, n.id, "%s served a request %v after it came, with a time-out of %v", n.id, waited, w.timeout)
	}
	least, most := n.cost(s.Request)
	if took := s.Done - n.k.now; n.k.now < n.free || took < least || took > most+n.slow {
		n.k.failf(Order, s.Machine, n.id, "%s began an operation when it was not done with the one before, or took %v for it, not %v to %v", n.id, took, least, most+n.slow)
	}
	n.free = s.Done
	n.store(s)
}

func (n *node) unserved(s *sim.Sight) {
	w := n.take(s)
	rule, waited := n.k.world.Setting(n.id).Queue, n.k.now-w.arrived
	if s.What == sim.Refused {
		n.books.refused++
		if rule != protect.CoDel {
			n.k.failf(Discard, s.Machine, n.id, "%s refused a request that it had room for", n.id)
		}
		return
	}
	n.books.discarded++
	if rule == protect.Keep || waited <= w.timeout {
		n.k.failf(Discard, s.Machine, n.id, "%s dropped a request %v after it came, with a time-out of %v", n.id, waited, w.timeout)
	}
	least, _ := n.cost(s.Request)
	n.free = n.k.now + time.Duration(float64(least)*n.k.c.Discard)
}

// checkBooks compares a brick's statistics with what was seen.
func (n *node) checkBooks() {
	s := n.k.world.Stats(n.id)
	memory, _ := n.k.world.Bounds()
	b := &n.books
	switch {
	case int64(s.Bytes) > memory:
		n.k.failf(Bounds, -1, n.id, "%s holds %d bytes of states, more than %d", n.id, s.Bytes, memory)
	case s.InboxLen != uint64(len(n.waiting)) || s.InboxBytes != uint64(n.bytes):
		n.k.failf(Books, -1, n.id, "%s says that %d requests of %d bytes wait: it is %d of %d", n.id, s.InboxLen, s.InboxBytes, len(n.waiting), n.bytes)
	case s.Writes+s.Reads != b.served || s.Discarded != b.discarded+b.refused || s.Dropped != b.dropped:
		n.k.failf(Books, -1, n.id, "%s counts %d served, %d discarded, %d dropped: it was %d, %d, %d",
			n.id, s.Writes+s.Reads, s.Discarded, s.Dropped, b.served, b.discarded+b.refused, b.dropped)
	}
}
