package brick

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// DefaultMemory bounds a store unless set, in bytes.
const DefaultMemory = 1 << 30

// StateOverhead is what the bookkeeping of one state weighs, in bytes: its entry in a Go
// map of 16-byte keys and 24-byte values at the map's mean load, measured and rounded up.
const StateOverhead = 80

// name is what a state is found by inside its table.
type name struct {
	key     session.Key
	version session.Version
}

// mostKept is the largest map that is kept for reuse, in states: about a mebibyte.
const mostKept = (1 << 20) / StateOverhead

type state struct {
	where extent
	sum   session.Checksum
}

// table holds the states that expire in the same second. It is dropped whole.
type table struct {
	elapses time.Duration // by the brick's own clock: the latest of the times its states were given
	states  map[name]state
	slab    slab
	bytes   int64
}

// Store keeps session states in tables by expiry. States are immutable; they leave
// only with their table. It is not safe for concurrent use.
type Store struct {
	tables  map[session.Expiry]*table
	next    time.Duration // the first instant at which a table may elapse
	limit   int64
	filled  int64 // of the limit, taken away: see Fill
	bytes   int64
	spare   spare
	empty   *table // one that has elapsed: its map has the room that the next will need
	held    uint64
	full    uint64
	corrupt uint64
	elapsed uint64
}

// NewStore returns an empty store that holds at most limit bytes, bookkeeping
// included. Zero means DefaultMemory.
func NewStore(limit int64) *Store {
	if limit == 0 {
		limit = DefaultMemory
	}
	return &Store{tables: make(map[session.Expiry]*table), next: Never, limit: limit}
}

// Put keeps a copy of the request's value under its key and version for its TTL.
// It answers Done or, when the memory bound is reached, Full; then nothing was kept. A state that is
// already held is left as it is: states are immutable, so this is the same write come twice. One that
// is damaged is replaced.
func (s *Store) Put(now time.Duration, r *session.Request) session.Status {
	s.Elapse(now)
	t := s.tables[r.Expiry]
	if t == nil {
		if t = s.empty; t == nil {
			t = &table{states: make(map[name]state)}
		}
	}
	id := name{r.Key, r.Version}
	if !s.holds(t, id, r) {
		if !s.add(t, id, r) {
			s.full++
			return session.Full
		}
		if t == s.empty {
			s.empty = nil
		}
		s.tables[r.Expiry] = t
	}
	t.elapses = max(t.elapses, now+r.TTL)
	s.next = min(s.next, t.elapses)
	return session.Done
}

// holds reports whether a table holds the state that a write brings. If it is damaged there, it
// lets go of it.
func (s *Store) holds(t *table, id name, r *session.Request) bool {
	st, there := t.states[id]
	if !there {
		return false
	}
	if _, intact := t.read(r, st); intact {
		return true
	}
	s.forget(t, id)
	return false
}

// add copies a value into a table unless the memory bound forbids it.
func (s *Store) add(t *table, id name, r *session.Request) bool {
	need := t.slab.need(len(r.Value))
	grows := int64(need) + StateOverhead
	if grows > s.room() {
		return false
	}
	s.spare.shed(s.room() - grows)
	var chunk []byte
	if need > 0 {
		chunk = s.spare.take(need)
	}
	s.keep(t, id, state{where: t.slab.put(r.Value, chunk), sum: r.Sum})
	t.bytes += int64(need)
	s.bytes += int64(need)
	return true
}

// keep and forget count a state in and out; its bytes leave with its table.
func (s *Store) keep(t *table, id name, st state) {
	t.states[id] = st
	t.bytes += StateOverhead
	s.bytes += StateOverhead
	s.held++
}

func (s *Store) forget(t *table, id name) {
	delete(t.states, id)
	t.bytes -= StateOverhead
	s.bytes -= StateOverhead
	s.held--
}

// read returns a state's bytes if they are those that were written.
func (t *table) read(r *session.Request, st state) (value []byte, intact bool) {
	value, there := t.slab.get(st.where)
	if !there || session.Sum(r.Key, r.Version, r.Expiry, value) != st.sum {
		return nil, false
	}
	return value, true
}

// Get finds a state. The bytes are the store's and are valid until its next
// call. A state whose checksum does not match is never returned: it is counted as Corrupt
// and let go, and asked for again it is not found. Other bricks have other copies.
func (s *Store) Get(now time.Duration, r *session.Request) ([]byte, session.Status) {
	s.Elapse(now)
	t := s.tables[r.Expiry]
	if t == nil {
		return nil, session.NotFound
	}
	asked := name{r.Key, r.Version}
	st, held := t.states[asked]
	if !held {
		return nil, session.NotFound
	}
	value, intact := t.read(r, st)
	if !intact {
		s.corrupt++
		s.forget(t, asked)
		return nil, session.Corrupt
	}
	return value, session.Done
}

// Size implements Sizer.
func (s *Store) Size(r *session.Request) int {
	t := s.tables[r.Expiry]
	if t == nil {
		return 0
	}
	st, held := t.states[name{r.Key, r.Version}]
	if !held {
		return 0
	}
	value, _ := t.slab.get(st.where) // none, if it says to lie where nothing is
	return len(value)
}

// Elapse drops the tables whose time is over.
func (s *Store) Elapse(now time.Duration) {
	if now < s.next {
		return
	}
	s.next = Never
	for expiry, t := range s.tables {
		if now < t.elapses {
			s.next = min(s.next, t.elapses)
			continue
		}
		s.drop(expiry, t)
	}
}

func (s *Store) drop(expiry session.Expiry, t *table) {
	delete(s.tables, expiry)
	s.bytes -= t.bytes
	s.held -= uint64(len(t.states))
	s.elapsed += uint64(len(t.states))
	for _, c := range t.slab.chunks {
		s.spare.give(c)
	}
	if len(t.states) <= mostKept {
		clear(t.states)
		s.empty = &table{states: t.states}
	}
}

// Stats fills in the store's half of a brick's statistics.
func (s *Store) Stats(into *session.BrickStats) {
	into.Sessions, into.Bytes = s.held, uint64(s.bytes)
	into.Full, into.Corrupt, into.Elapsed = s.full, s.corrupt, s.elapsed
}

// Apply serves one operation: what the processing loop does with a Step that says
// Serve. The reply's value is the store's and is valid until the store's next call.
func (s *Store) Apply(now time.Duration, r *session.Request) session.Reply {
	if r.Op == session.Write {
		return session.Reply{ID: r.ID, Status: s.Put(now, r)}
	}
	value, status := s.Get(now, r)
	return session.Reply{ID: r.ID, Status: status, Value: value}
}
