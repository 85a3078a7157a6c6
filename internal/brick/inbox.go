package brick

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Op is a request in a brick's hands.
type Op struct {
	session.Request
	From    uint32 // where the reply goes; opaque to the core
	arrived time.Duration
}

// OpOverhead is what an operation weighs in the inbox beside its value, in bytes.
const OpOverhead = 128

func (o *Op) weight() int { return len(o.Value) + OpOverhead }

// inbox is a FIFO ring that grows by doubling; its length is a power of two.
type inbox struct {
	ring  []Op
	head  int
	count int
	bytes int
}

func (b *inbox) push(op Op) {
	if b.count == len(b.ring) {
		b.grow()
	}
	b.ring[(b.head+b.count)&(len(b.ring)-1)] = op
	b.count++
	b.bytes += op.weight()
}

func (b *inbox) grow() {
	const smallest = 64
	ring := make([]Op, max(smallest, 2*len(b.ring)))
	n := copy(ring, b.ring[b.head:])
	copy(ring[n:], b.ring[:b.head])
	b.ring, b.head = ring, 0
}

// peek returns the oldest operation; the inbox must not be empty.
func (b *inbox) peek() *Op { return &b.ring[b.head] }

// pop takes the oldest operation out; the inbox must not be empty.
func (b *inbox) pop() Op {
	op := b.ring[b.head]
	b.ring[b.head] = Op{} // lets go of the value
	b.head = (b.head + 1) & (len(b.ring) - 1)
	b.count--
	b.bytes -= op.weight()
	return op
}
