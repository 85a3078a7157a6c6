package brick

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Op is a request in a brick's hands.
type Op struct {
	session.Request
	From    uint32 // where the reply goes; opaque to the core
	rank    int32  // in the inbox: its place in the order by start, from 1; 0 is none
	arrived time.Duration
}

// OpOverhead is what an operation weighs in the inbox beside its value, in bytes.
const OpOverhead = 128

func (o *Op) weight() int { return len(o.Value) + OpOverhead }

// gone is the rank of an operation that was taken from between others.
const gone = -1

// inbox is a ring in the order of arrival that grows by doubling; its length is a power
// of two. What is taken from between others leaves a gap; there is none at either end. The order by start
// (newest.go) is kept only for what the rule of the queue has asked it for.
type inbox struct {
	ring  []Op
	head  int
	span  int // from the oldest to the last to arrive, gaps and all
	count int // of operations
	bytes int

	order  []int32 // a heap of places in the ring, the newest start on top
	ranked int     // of the span: these have been put into order
}

// place turns a distance from the oldest into an index of the ring.
func (b *inbox) place(k int) int { return (b.head + k) & (len(b.ring) - 1) }

func (b *inbox) push(op Op) {
	if b.span == len(b.ring) {
		b.relay()
	}
	op.rank = 0
	b.ring[b.place(b.span)] = op
	b.span++
	b.count++
	b.bytes += op.weight()
}

// relay closes the gaps of a full ring if they are half of it, and doubles it otherwise.
func (b *inbox) relay() {
	const smallest = 64
	ring, head := b.ring, b.head
	if 2*b.count >= len(b.ring) {
		ring, head = make([]Op, max(smallest, 2*len(b.ring))), 0
	}
	n, ranked := 0, 0
	for k := range b.span {
		op := &b.ring[b.place(k)]
		if op.rank == gone {
			continue
		}
		to := (head + n) & (len(ring) - 1)
		ring[to] = *op // in the same ring: at or before its own place
		if op.rank > 0 {
			b.order[op.rank-1] = int32(to)
		}
		n++
		if k < b.ranked {
			ranked = n
		}
	}
	b.ring, b.head, b.ranked = ring, head, ranked
	for k := n; k < b.span; k++ {
		ring[b.place(k)] = Op{}
	}
	b.span = n
}

// take takes the operation at an index of the ring out.
func (b *inbox) take(at int) Op {
	op := b.ring[at]
	if op.rank > 0 {
		b.unrank(int(op.rank) - 1)
		op.rank = 0
	}
	b.ring[at] = Op{rank: gone} // lets go of the value
	b.count--
	b.bytes -= op.weight()
	if at == b.head {
		b.behead()
	}
	if b.span > b.count {
		b.trim()
	}
	return op
}

// trim drops the gaps at the ends.
func (b *inbox) trim() {
	for b.span > 0 && b.ring[b.head].rank == gone {
		b.behead()
	}
	for b.span > 0 && b.ring[b.place(b.span-1)].rank == gone {
		b.span--
	}
	b.ranked = min(b.ranked, b.span)
}

// behead lets the next place be the first.
func (b *inbox) behead() {
	b.head = b.place(1)
	b.span--
	b.ranked = max(b.ranked-1, 0)
}
