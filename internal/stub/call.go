package stub

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// call is an attempt in the stub's hands. It outlives its completion until the
// last of its operations is answered or times out, because windows count those too.
type call struct {
	generation uint32 // tells a late reply from one to the slot's present call
	op         session.Op
	live       bool // the slot is taken
	done       bool // completed; only the windows still wait
	urgent     bool
	tag        uint64
	deadline   time.Duration
	cookie     session.Cookie // of a write: grows with its acknowledgements
	legs       [session.MaxReplicas]leg
	count      int // legs used
	pending    int // legs not yet settled
	acks       int // writes: copies acknowledged; reads: replies that verified
	noes       int // explicit noes of any kind
	missing    int // of those, state not found
	corrupt    int // of those, checksum of the state did not match
	wrong      int // replies that failed verification
	odd        [OddBytes]byte
}

// leg is one operation of a call.
type leg struct {
	brick   int32
	pending bool
	sent    time.Duration
}

func (k *call) leg(brick int32) *leg {
	for i := range k.legs[:k.count] {
		if k.legs[i].brick == brick {
			return &k.legs[i]
		}
	}
	return nil
}

// calls are slots for calls, reused, and the order in which they time out. All
// calls have the same time-out, so that order is the order of their beginnings.
type calls struct {
	slots []call
	free  []uint32
	order []ref // a ring would save nothing: the head advances and the slice is compacted
	head  int
}

// ref names a call that may have gone since.
type ref struct{ slot, generation uint32 }

func (r ref) id() uint64 { return uint64(r.generation)<<32 | uint64(r.slot) }

// open takes a slot and puts it last in the order of time-outs.
func (s *calls) open(deadline time.Duration) (ref, *call) {
	var slot uint32
	if n := len(s.free); n > 0 {
		slot = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		slot = uint32(len(s.slots))
		s.slots = append(s.slots, call{})
	}
	k := &s.slots[slot]
	k.reuse(deadline)
	r := ref{slot, k.generation}
	s.order = append(s.order, r)
	return r, k
}

func (k *call) reuse(deadline time.Duration) {
	k.generation++
	k.live, k.done, k.deadline = true, false, deadline
	k.count, k.pending, k.acks, k.noes, k.missing, k.corrupt, k.wrong = 0, 0, 0, 0, 0, 0, 0
}

// close gives a slot back.
func (s *calls) close(slot uint32) {
	s.slots[slot].live = false
	s.free = append(s.free, slot)
}

// find returns the call that an operation's id names, or nil if it has gone.
func (s *calls) find(id uint64) *call {
	r := ref{slot: uint32(id), generation: uint32(id >> 32)}
	if int64(r.slot) >= int64(len(s.slots)) {
		return nil
	}
	if k := &s.slots[r.slot]; k.live && k.generation == r.generation {
		return k
	}
	return nil
}

// oldest returns the live call that times out first, or nil.
func (s *calls) oldest() (uint32, *call) {
	for s.head < len(s.order) {
		r := s.order[s.head]
		if k := s.find(r.id()); k != nil {
			return r.slot, k
		}
		s.head++
		s.compact()
	}
	return 0, nil
}

// compact drops the part of the order that has gone, once it is the larger one.
func (s *calls) compact() {
	const worthwhile = 64
	if s.head >= worthwhile && 2*s.head >= len(s.order) {
		n := copy(s.order, s.order[s.head:])
		s.order, s.head = s.order[:n], 0
	}
}

// each visits every live call, oldest first.
func (s *calls) each(visit func(slot uint32, k *call)) {
	for _, r := range s.order[s.head:] {
		if k := s.find(r.id()); k != nil {
			visit(r.slot, k)
		}
	}
}
