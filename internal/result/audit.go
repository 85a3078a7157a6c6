package result

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// DefaultAudit is how long the audit of a level may take unless set: twice what profile nsdi04
// needs at its peak, where 950 writes per second of 9 s are read back at 3350 per second.
const DefaultAudit = 5 * time.Second

// AuditWithin is how long the audit of each level may take.
func (p *Plan) AuditWithin() time.Duration { return cmp.Or(p.Audit, DefaultAudit) }

// Audit says what became of the acknowledged writes of a level that had not expired at its
// end: they were read back then. Those whose loss a user's own read had found before are among them.
// The zero value is of a level without an audit.
type Audit struct {
	Writes  uint64 `json:"writes"`  // the sum of the next seven
	Found   uint64 `json:"found"`   // exactly as they were written
	Expired uint64 `json:"expired"` // their time passed before they were asked for, or answered
	Lost    uint64 `json:"lost"`    // denied by every brick that their cookie names
	Stale   uint64 `json:"stale"`   // another version came back than the cookie names
	Corrupt uint64 `json:"corrupt"` // no copy is left that verifies, and at least one was there that did not
	Unknown uint64 `json:"unknown"` // no answer, though asked several times
	Unread  uint64 `json:"unread"`  // there was no time to ask, or no memory to remember them

	// Allowed are those of Lost whose bricks had all failed since the write began: each of them had
	// died or damaged what it held. One that lived on must hold what it has acknowledged.
	Allowed uint64 `json:"lost_allowed"`
}

// Add sums two audits up.
func (a *Audit) Add(b *Audit) {
	a.Writes += b.Writes
	a.Found += b.Found
	a.Expired += b.Expired
	a.Lost += b.Lost
	a.Stale += b.Stale
	a.Corrupt += b.Corrupt
	a.Unknown += b.Unknown
	a.Unread += b.Unread
	a.Allowed += b.Allowed
}

// Clean reports whether every write was found, but for those whose time had passed.
func (a *Audit) Clean() bool { return a.Found+a.Expired == a.Writes }

// String returns the audit as reports show it.
func (a *Audit) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d writes read back: found %d, expired %d, lost %d (allowed %d), stale %d, corrupt %d",
		a.Writes, a.Found, a.Expired, a.Lost, a.Allowed, a.Stale, a.Corrupt)
	if a.Unknown > 0 {
		fmt.Fprintf(&b, ", without an answer %d", a.Unknown)
	}
	if a.Unread > 0 {
		fmt.Fprintf(&b, ", not asked for %d", a.Unread)
	}
	return b.String()
}
