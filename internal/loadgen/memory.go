package loadgen

import (
	"maps"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// kept is an acknowledged write that has not expired, in 112 bytes.
type kept struct {
	cookie session.Cookie
	began  time.Duration // when it was sent; knownGone if a user has found that out
}

// knownGone stands for the begin of a write that is counted already.
const knownGone = -1

// maxKept bounds the writes that a machine remembers: 28 MiB of them, and as much that waits to be
// used again. A machine of the published load has some 2000.
const maxKept = 1 << 18

// memory is the acknowledged writes of a machine, in the order of their acknowledgements and so
// but for a time-out in that of their expiries. Those that have expired leave it.
type memory struct {
	all       []kept
	head      int                       // those before it have left
	limit     int                       // 0 is maxKept
	forgotten map[session.Expiry]uint64 // left for want of room
}

// add remembers a write.
func (m *memory) add(now time.Duration, cookie *session.Cookie, began time.Duration) {
	for m.head < len(m.all) && m.all[m.head].cookie.Expiry.Passed(now) {
		m.head++
	}
	limit := m.limit
	if limit == 0 {
		limit = maxKept
	}
	if len(m.all)-m.head == limit {
		if m.forgotten == nil {
			m.forgotten = make(map[session.Expiry]uint64)
		}
		m.forgotten[m.all[m.head].cookie.Expiry]++
		m.head++
	}
	const worthwhile = 64
	if m.head >= worthwhile && 2*m.head >= len(m.all) {
		n := copy(m.all, m.all[m.head:])
		m.all, m.head = m.all[:n], 0
	}
	m.all = append(m.all, kept{cookie: *cookie, began: began})
}

// find returns a write that is remembered, or nil. It is looked for among the youngest first.
func (m *memory) find(c *session.Cookie) *kept {
	for i := len(m.all) - 1; i >= m.head; i-- {
		if k := &m.all[i]; k.cookie.Key == c.Key && k.cookie.Version == c.Version {
			return k
		}
	}
	return nil
}

// settle leaves only what an audit that begins now is to ask for, and returns how many others it
// should ask for and cannot.
func (m *memory) settle(now time.Duration) (forgotten uint64) {
	m.all = slices.DeleteFunc(m.all[m.head:], func(k kept) bool { return k.began == knownGone || k.cookie.Expiry.Passed(now) })
	m.head = 0
	maps.DeleteFunc(m.forgotten, func(e session.Expiry, _ uint64) bool { return e.Passed(now) })
	for _, n := range m.forgotten {
		forgotten += n
	}
	return forgotten
}
