package search

import (
	"bytes"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// name is what a state is found by.
type name struct {
	key     session.Key
	version session.Version
}

// state is a write as its user began it, and what became of it.
type state struct {
	name
	value  []byte
	expiry session.Expiry
	cookie []session.BrickID       // that acknowledged it first; nil while it is not acknowledged
	lives  map[session.BrickID]int // of the bricks that have stored it, when they did
	gone   bool                    // a user has found it lost or corrupt
}

func (s *state) expired(now time.Duration) bool { return time.Duration(s.expiry)*time.Second <= now }

// record is what was written, independent of all that the store keeps.
type record struct {
	states map[name]*state
	acked  []*state
}

// stored notes that a brick has answered a write with yes.
func (n *node) stored(r *session.Request) {
	if s := n.k.writes.states[name{r.Key, r.Version}]; s != nil {
		s.lives[n.id] = n.life
	}
}

// holds reports whether a brick must hold a state: it has said so and has lived on, no bit of it has flipped there, and its time is not over.
func (k *checker) holds(id session.BrickID, s *state) bool {
	life, stored := s.lives[id]
	return stored && life == k.bricks[id-1].life && !s.expired(k.now)
}

// checkHeld asks every brick for every acknowledged state that it must hold.
func (k *checker) checkHeld() {
	kept := k.writes.acked[:0]
	for _, s := range k.writes.acked {
		if s.expired(k.now) {
			delete(k.writes.states, s.name)
			continue
		}
		kept = append(kept, s)
		for _, id := range s.cookie {
			if k.holds(id, s) {
				k.checkState(id, s)
			}
		}
	}
	clear(k.writes.acked[len(kept):])
	k.writes.acked = kept
	for n, s := range k.writes.states {
		// Also what was never acknowledged, once it cannot be any more.
		if s.expiry > 0 && s.expired(k.now-time.Duration(k.c.Timeout)) {
			delete(k.writes.states, n)
		}
	}
}

func (k *checker) checkState(id session.BrickID, s *state) {
	r := session.Request{Op: session.Read, Key: s.key, Version: s.version, Expiry: s.expiry}
	value, status := k.world.Held(k.now, id, &r)
	switch {
	case status != session.Done:
		k.failf(Durable, -1, id, "%s does not hold key %x version %d, which it has acknowledged and which has not expired: %s", id, s.key, s.version, status)
	case !bytes.Equal(value, s.value):
		k.failf(Exact, -1, id, "%s holds for key %x version %d other bytes than were written", id, s.key, s.version)
	}
}

// checkBytes compares what a read got with what was written. A state that expired is forgotten.
func (k *checker) checkBytes(machine int, id session.BrickID, r name, got []byte) {
	s := k.writes.states[r]
	if s != nil && !bytes.Equal(got, s.value) {
		k.failf(Exact, machine, id, "a read of key %x version %d got other bytes from %s than were written", r.key, r.version, id)
	}
}
