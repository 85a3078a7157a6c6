package sim

import (
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/session"
)

// message is a request on its way to a brick or in its inbox, then the reply to it on
// its way back.
type message struct {
	from    uint32 // machine
	to      uint32 // brick
	request session.Request
	status  session.Status // the brick's answer
	share   float32        // and what it offers
	stamp   [loadgen.MinSize]byte
	life    uint32 // of the brick, when it was sent
	stamped int    // bytes of the value that the request or the reply carries
}

// carry keeps a copy of a value.
func (m *message) carry(value []byte) { m.stamped = copy(m.stamp[:], value) }

// value returns what the message carries; nil is nothing. It is the message's own.
func (m *message) value() []byte {
	if m.stamped == 0 {
		return nil
	}
	return m.stamp[:m.stamped]
}

// pageBits sizes a page of messages.
const pageBits = 10

// messages are slots for messages, reused. They never move.
type messages struct {
	pages [][]message
	free  []uint32
}

// take returns a slot that is not in use.
func (s *messages) take() uint32 {
	if len(s.free) == 0 {
		first := uint32(len(s.pages)) << pageBits
		s.pages = append(s.pages, make([]message, 1<<pageBits))
		for slot := first + 1<<pageBits; slot > first; slot-- {
			s.free = append(s.free, slot-1)
		}
	}
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return slot
}

// give takes a slot back.
func (s *messages) give(slot uint32) { s.free = append(s.free, slot) }

// at returns the message in a slot.
func (s *messages) at(slot uint32) *message {
	return &s.pages[slot>>pageBits][slot&(1<<pageBits-1)]
}
