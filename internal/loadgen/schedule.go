package loadgen

import "time"

// due is a user's turn.
type due struct {
	at   time.Duration
	user int32
}

// schedule is a binary heap of turns, the earliest on top. Typed by hand because
// container/heap boxes every element.
type schedule []due

func (s *schedule) push(d due) {
	h := append(*s, d)
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if h[parent].at <= h[i].at {
			break
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
	*s = h
}

// pop takes the earliest turn; the schedule must not be empty.
func (s *schedule) pop() due {
	h := *s
	top := h[0]
	n := len(h) - 1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		least := 2*i + 1
		if least >= n {
			break
		}
		if right := least + 1; right < n && h[right].at < h[least].at {
			least = right
		}
		if h[i].at <= h[least].at {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*s = h
	return top
}
