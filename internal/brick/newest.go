package brick

import "time"

// newest returns the index in the ring of the operation whose stub began last, of
// those that have arrived by now; the inbox must not be empty. Stubs whose requests have the same time-out
// began in the order in which they give up, so that the copies of one write rank alike on all
// bricks, and a read that falls back keeps the rank of its beginning.
//
// An operation is put into order once, when it is first looked at: O(log n) each.
func (b *inbox) newest(now time.Duration) int {
	for b.ranked < b.span {
		at := b.place(b.ranked)
		if b.ring[at].rank != gone {
			if b.ring[at].arrived > now {
				break
			}
			b.order = append(b.order, int32(at))
			b.up(len(b.order) - 1)
		}
		b.ranked++
	}
	if len(b.order) == 0 { // on several cores arrivals may be a little out of order
		return b.head
	}
	return int(b.order[0])
}

// newer orders places of the ring by when their stubs give up; of equal ones the later arrival is newer.
func (b *inbox) newer(i, j int32) bool {
	x, y := &b.ring[i], &b.ring[j]
	if d, e := x.arrived+x.Timeout, y.arrived+y.Timeout; d != e {
		return d > e
	}
	mask := len(b.ring) - 1
	return (int(i)-b.head)&mask > (int(j)-b.head)&mask
}

// unrank takes a place out of the heap.
func (b *inbox) unrank(at int) {
	last := len(b.order) - 1
	b.order[at] = b.order[last]
	b.order = b.order[:last]
	if at < last {
		b.up(at)
		b.down(at)
	}
}

// up and down restore the heap around one place, and with it the ranks in the ring.
func (b *inbox) up(at int) {
	moved := b.order[at]
	for at > 0 {
		parent := (at - 1) / 2
		if !b.newer(moved, b.order[parent]) {
			break
		}
		b.set(at, b.order[parent])
		at = parent
	}
	b.set(at, moved)
}

func (b *inbox) down(at int) {
	moved := b.order[at]
	for {
		child := 2*at + 1
		if child >= len(b.order) {
			break
		}
		if right := child + 1; right < len(b.order) && b.newer(b.order[right], b.order[child]) {
			child = right
		}
		if !b.newer(b.order[child], moved) {
			break
		}
		b.set(at, b.order[child])
		at = child
	}
	b.set(at, moved)
}

func (b *inbox) set(at int, place int32) {
	b.order[at] = place
	b.ring[place].rank = int32(at + 1)
}
