package protect

import "time"

// The constants of controlled delay as servers use it: the variant of CoDel (Nichols and
// Jacobson, "Controlling Queue Delay", ACM Queue 2012) in "Fail at Scale" (Maurer, ACM Queue 2015)
// and, with the factor of two, in Facebook's library folly (Codel.cpp). Maurer found the first two
// good for services of many kinds, so they are not shares of the time-out.
const (
	codelTarget   = 5 * time.Millisecond   // a wait that is no sign of overload
	codelInterval = 100 * time.Millisecond // a burst is over within it
	codelSlough   = 2 * codelTarget        // who has waited longer, while overloaded, is refused
)

// codel tells a burst from a queue that stands: a brick is overloaded when even the
// least wait of an interval exceeded the target. Then it serves the newest first (adaptive LIFO, in
// the same article), so what has waited too long has its turn, and is refused, when there is nothing fresh to do.
// To clear that away first would be right if it cost nothing; docs/policies.md shows what it does here.
//
// The wait is that of the oldest request in the inbox, not of the one served: newest first
// would hide the queue.
type codel struct {
	overloaded bool
	least      time.Duration // wait of the oldest, in this interval
	until      time.Duration // when the interval ends
}

func (c *codel) Pick(now, oldest time.Duration) Pick {
	c.least = min(c.least, oldest)
	if now >= c.until {
		// The wait at this decision counts for both intervals, so that a brick which
		// comes out of an idle time does not go by the time before it.
		c.overloaded = c.least > codelTarget
		c.least, c.until = oldest, now+codelInterval
	}
	if c.overloaded {
		return Newest
	}
	return Oldest
}

func (c *codel) Judge(waited, timeout time.Duration) Verdict {
	switch {
	case waited > timeout:
		return Drop
	case c.overloaded && waited > codelSlough:
		return Refuse
	default:
		return Serve
	}
}
