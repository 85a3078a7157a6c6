package search

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/brick"
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
	memory, _ := n.k.world.Bounds()
	stats := n.k.world.Stats(n.id)
	switch s.Reply.Status {
	case session.Done:
		n.stored(r)
		delete(n.damaged, name{r.Key, r.Version})
		t := n.tables[r.Expiry]
		if t == nil || t.elapses <= n.k.now {
			t = &table{states: make(map[name]bool)}
			n.tables[r.Expiry] = t
		}
		if had := t.states[name{r.Key, r.Version}]; !had && int64(stats.Bytes) > memory-n.filled {
			n.k.failf(Bounds, s.Machine, n.id, "%s took a state and holds %d bytes, with %d of %d taken away", n.id, stats.Bytes, n.filled, memory)
		}
		t.states[name{r.Key, r.Version}] = true
		t.elapses = max(t.elapses, n.k.now+r.TTL)
	case session.Full:
		if int64(stats.Bytes)+largest <= memory-n.filled {
			n.k.failf(Bounds, s.Machine, n.id, "%s has no room for a state, with %d bytes of %d in use and %d taken away", n.id, stats.Bytes, memory, n.filled)
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
	case session.Corrupt:
		t := n.tables[r.Expiry]
		if t == nil || !t.states[asked] || !n.damaged[asked] {
			n.k.failf(Exact, s.Machine, n.id, "%s calls key %x version %d corrupt, in which no bit has flipped", n.id, r.Key, r.Version)
		}
		delete(t.states, asked)
	default:
		n.k.failf(Exact, s.Machine, n.id, "%s answers a read with %s", n.id, s.Reply.Status)
	}
}

// flipped takes in a bit that has turned over: the brick need not hold the state any more, and
// of its name neither.
func (n *node) flipped(f *brick.Flipped) {
	was := name{f.Key, f.Version}
	t := n.tables[f.Expiry]
	if t == nil || !t.states[was] {
		n.k.failf(Bounds, -1, n.id, "%s holds key %x version %d, whose time is over or which it has not stored", n.id, f.Key, f.Version)
	}
	n.damaged[was] = true
	if s := n.k.writes.states[was]; s != nil {
		delete(s.lives, n.id)
	}
	is := was
	switch f.Part {
	case brick.InKey:
		is.key ^= 1 << f.Bit
	case brick.InVersion:
		is.version ^= 1 << f.Bit
	default:
		return
	}
	delete(t.states, was)
	t.states[is], n.damaged[is] = true, true
}
