package sim

import (
	"math/bits"
	"time"
)

// kind tells events apart.
type kind uint8

const (
	machineWakes kind = iota
	brickWakes
	requestArrives
	replyArrives
	faultBegins    // who is the fault
	faultEnds      // who is the fault
	brickAnnounces // slot is the life in which it does
	connectionEnds // the slot's message tells a machine that the brick has died
	brickHeard     // the slot's message tells a machine that the brick is there

	protectionChanges // who is the change
	heartbeatIsDue    // who is the brick
	heartbeatArrives  // who is the brick, slot the machine
	guardLooks
)

// event is something that will happen. Events of the same instant happen in the
// order in which they were planned, so that a run depends on nothing but its seed.
type event struct {
	at   time.Duration
	who  uint32 // the machine, brick or fault it happens to
	slot uint32 // of the message that arrives
	kind kind
}

// The wheel turns 2^wheelBits slots; whatever is planned further ahead waits in a heap.
const (
	wheelBits = 13
	wheelSize = 1 << wheelBits
)

// events is the queue of all events, as a timing wheel: a slot for each short span of
// time, and in it the events of that span in order. To plan an event and to take the next
// one cost the same however many there are.
//
// The spans are so short that a slot seldom has more than two events.
type events struct {
	span  uint  // a slot's, as a power of two, in nanoseconds
	turn  int64 // the number, from time 0, of the slot that the next event is at or after
	slots [wheelSize]uint32
	used  [wheelSize / 64]uint64 // a bit for each slot that has an event
	nodes []planned              // node 0 ends every list
	free  uint32                 // first of the nodes that are not in use
	far   heap
}

// planned is an event in its slot's list.
type planned struct {
	event
	next uint32
}

// newEvents returns an empty queue with slots of 2^span nanoseconds.
func newEvents(span uint) *events { return &events{span: span, nodes: make([]planned, 1)} }

// push plans an event. It must not lie before the last that was taken.
func (q *events) push(e event) {
	number := int64(e.at) >> q.span
	if number-q.turn >= wheelSize {
		q.far.push(e)
		return
	}
	n := q.node(e)
	i := number & (wheelSize - 1)
	q.used[i/64] |= 1 << (i % 64)
	at := &q.slots[i]
	for *at != 0 && q.nodes[*at].at <= e.at {
		at = &q.nodes[*at].next
	}
	q.nodes[n].next, *at = *at, n
}

// node takes a node for an event. It may move all others.
func (q *events) node(e event) uint32 {
	n := q.free
	if n == 0 {
		q.nodes = append(q.nodes, planned{event: e})
		return uint32(len(q.nodes) - 1)
	}
	q.free = q.nodes[n].next
	q.nodes[n].event = e
	return n
}

// pop takes the next event if it happens by end.
func (q *events) pop(end time.Duration) (e event, ok bool) {
	i := q.first()
	// Of the same instant, what is far was planned first.
	if len(q.far.items) > 0 && (i < 0 || q.far.items[0].at <= q.nodes[q.slots[i]].at) {
		if q.far.items[0].at > end {
			return event{}, false
		}
		e = q.far.pop()
		q.turn = int64(e.at) >> q.span
		return e, true
	}
	if i < 0 {
		return event{}, false
	}
	n := q.slots[i]
	node := &q.nodes[n]
	if node.at > end {
		return event{}, false
	}
	if q.slots[i] = node.next; node.next == 0 {
		q.used[i/64] &^= 1 << (i % 64)
	}
	node.next, q.free = q.free, n
	q.turn = int64(node.at) >> q.span
	return node.event, true
}

// first returns the first slot of the turn that has an event, or -1.
func (q *events) first() int {
	from := int(q.turn & (wheelSize - 1))
	word := from / 64
	if w := q.used[word] >> (from % 64); w != 0 {
		return from + bits.TrailingZeros64(w)
	}
	for k := 1; k <= len(q.used); k++ { // and at last the word's bits before from
		if at := (word + k) % len(q.used); q.used[at] != 0 {
			return at*64 + bits.TrailingZeros64(q.used[at])
		}
	}
	return -1
}

// heap is a binary heap of events, the next on top.
type heap struct {
	items []ordered
	count uint32
}

// ordered is an event with its place in the order of planning, which wraps and is
// compared as such.
type ordered struct {
	event
	order uint32
}

func (e *ordered) before(o *ordered) bool {
	return e.at < o.at || (e.at == o.at && int32(e.order-o.order) < 0)
}

func (q *heap) push(e event) {
	q.count++
	q.items = append(q.items, ordered{e, q.count})
	h := q.items
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if h[parent].before(&h[i]) {
			break
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
}

func (q *heap) pop() event {
	h := q.items
	top := h[0].event
	n := len(h) - 1
	h[0] = h[n]
	h = h[:n]
	q.items = h
	for i := 0; ; {
		least := 2*i + 1
		if least >= n {
			break
		}
		if right := least + 1; right < n && h[right].before(&h[least]) {
			least = right
		}
		if h[i].before(&h[least]) {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	return top
}
