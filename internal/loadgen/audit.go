package loadgen

import (
	"encoding/binary"
	"time"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// auditTag marks the tags of the audit's reads; the rest of them is which write it is.
const auditTag = 1 << 63

// auditTries is how often a state is asked for before its fate is called unknown. Between two
// tries lies a time-out.
const auditTries = 5

// Audit counts what became of a machine's acknowledged writes.
type Audit struct {
	result.Audit
	Told uint64 `json:"told"` // of Lost: found by users while the load ran, which the recorder has counted too
}

// Add sums two audits up.
func (a *Audit) Add(b Audit) {
	a.Audit.Add(&b.Audit)
	a.Told += b.Told
}

// audit reads back what the machine remembers.
type audit struct {
	counts Audit
	memory memory
	lives  lives
	begun  bool
	next   int     // the first write that has not been asked for
	asking int     // reads under way
	again  []retry // in the order of time
	tries  map[int]int
}

// retry is a write to be asked for again.
type retry struct {
	at   time.Duration
	next int
}

// fate counts one write.
func (a *audit) fate(count *uint64) {
	*count++
	a.counts.Writes++
}

// gone takes in that a user's read has found a state gone, if it has: the audit need not ask.
func (a *audit) gone(now time.Duration, d *stub.Completion, c *session.Cookie) {
	if (!d.Lost && !d.Corrupt) || c.Expiry.Passed(now) {
		return
	}
	k := a.memory.find(c)
	if k == nil || k.began == knownGone {
		return
	}
	if d.Lost {
		a.lost(k)
		a.counts.Told++
	} else {
		a.fate(&a.counts.Corrupt)
	}
	k.began = knownGone
}

func (a *audit) lost(k *kept) {
	a.fate(&a.counts.Lost)
	if a.lives.allows(k) {
		a.counts.Allowed++
	}
}

// ended takes in the end of one of the audit's reads.
func (a *audit) ended(now time.Duration, d *stub.Completion, timeout time.Duration) {
	i := int(d.Tag &^ auditTag)
	k := &a.memory.all[i]
	a.asking--
	switch {
	case d.Outcome == session.OK:
		a.fate(&a.counts.Found)
	case k.cookie.Expiry.Passed(now):
		a.fate(&a.counts.Expired)
	case d.Lost:
		a.lost(k)
	case d.Outcome == session.Wrong && stale(d, &k.cookie):
		a.fate(&a.counts.Stale)
	case d.Corrupt, d.Outcome == session.Wrong:
		a.fate(&a.counts.Corrupt)
	default:
		if a.tries[i]++; a.tries[i] == auditTries {
			a.fate(&a.counts.Unknown)
			return
		}
		a.again = append(a.again, retry{now + timeout, i})
	}
}

// stale reports whether a wrong answer is the right user's, of another version.
func stale(d *stub.Completion, c *session.Cookie) bool {
	return session.Key(binary.LittleEndian.Uint64(d.Odd[0:])) == c.Key &&
		session.Version(binary.LittleEndian.Uint64(d.Odd[8:])) != c.Version
}

// BeginAudit makes the machine, once stopped, read back every acknowledged write that has not
// expired, the oldest first.
func (m *Machine) BeginAudit(now time.Duration) {
	a := &m.audit
	forgotten := a.memory.settle(now)
	a.counts.Unread += forgotten
	a.counts.Writes += forgotten
	a.begun, a.tries = true, make(map[int]int)
}

// StepAudit asks for one more state of the audit. It reports false when there is none to ask for now.
func (m *Machine) StepAudit(now time.Duration) bool {
	a := &m.audit
	for {
		i := a.next
		switch {
		case len(a.again) > 0 && a.again[0].at <= now:
			i = a.again[0].next
			a.again = a.again[1:]
		case a.begun && i < len(a.memory.all):
			a.next++
		default:
			return false
		}
		if k := &a.memory.all[i]; !k.cookie.Expiry.Passed(now) {
			m.ask(now, i, &k.cookie)
			return true
		}
		a.fate(&a.counts.Expired)
	}
}

func (m *Machine) ask(now time.Duration, i int, c *session.Cookie) {
	m.audit.asking++
	attempt := stub.Attempt{Tag: auditTag | uint64(i), Op: session.Read, Cookie: c, Urgent: true}
	if m.cfg.Watch != nil {
		m.cfg.Watch.Began(now, m.cfg.ID, attempt)
	}
	m.carry(now, m.stub.Begin(now, &attempt))
}

// Auditing returns how many reads of the audit are under way, and whether it goes on.
func (m *Machine) Auditing() (asking int, more bool) {
	a := &m.audit
	return a.asking, a.begun && (a.next < len(a.memory.all) || len(a.again) > 0 || a.asking > 0)
}

// Audit returns what the audit has found so far. What it has not is not read.
func (m *Machine) Audit() Audit {
	a := &m.audit
	all := a.counts
	if a.begun {
		left := uint64(len(a.memory.all) - a.next + len(a.again) + a.asking)
		all.Unread += left
		all.Writes += left
	}
	return all
}
