package search

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/sim"
)

// largest is what a brick's memory may grow by for one state, in bytes.
const largest = 1<<20 + 80

// store follows what a brick's answer says of its states.
func (n *node) store(s *sim.Sight) {
	if s.Request.Op == session.Write {
		n.written(s)
	} else {
		n.read(s)
	}
	held := uint64(0)
	for expiry, t := range n.tables {
		if t.elapses <= n.k.now {
			delete(n.tables, expiry)
			continue
		}
		held += uint64(len(t.states))
	}
	if stats := n.k.world.Stats(n.id); stats.Sessions != held {
		n.k.failf(Bounds, s.Machine, n.id, "%s holds %d states, of %d whose time is not over", n.id, stats.Sessions, held)
	}
}

func (n *node) written(s *sim.Sight) {
	r := s.Request
	switch s.Reply.Status {
	case session.Done:
		n.stored(r)
		t := n.tables[r.Expiry]
		if t == nil || t.elapses <= n.k.now {
			t = &table{states: make(map[name]bool)}
			n.tables[r.Expiry] = t
		}
		t.states[name{r.Key, r.Version}] = true
		t.elapses = max(t.elapses, n.k.now+r.TTL)
	case session.Full:
		memory, _ := n.k.world.Bounds()
		if stats := n.k.world.Stats(n.id); int64(stats.Bytes)+largest <= memory {
			n.k.failf(Bounds, s.Machine, n.id, "%s has no room for a state, with %d bytes of %d in use", n.id, stats.Bytes, memory)
		}
	default:
		n.k.failf(Outcome, s.Machine, n.id, "%s answers a write with %s", n.id, s.Reply.Status)
	}
}

func (n *node) read(s *sim.Sight) {
	r := s.Request
	asked := name{r.Key, r.Version}
	switch s.Reply.Status {
	case session.Done:
		n.k.checkBytes(s.Machine, n.id, asked, s.Reply.Value)
	case session.NotFound:
		if st := n.k.writes.states[asked]; st != nil && n.k.holds(n.id, st) {
			n.k.failf(Durable, s.Machine, n.id, "%s denies key %x version %d, which it has stored %v before its expiry",
				n.id, r.Key, r.Version, time.Duration(st.expiry)*time.Second-n.k.now)
		}
	default:
		n.k.failf(Exact, s.Machine, n.id, "%s answers a read with %s", n.id, s.Reply.Status)
	}
}
