package loadgen

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// auditTag marks the tags of the audit's reads.
const auditTag = 1 << 63

// Audit counts what became of the users' last acknowledged writes.
type Audit struct {
	Checked uint64 // unexpired, and read back
	Found   uint64
	Lost    uint64 // denied by every brick that the cookie names
	Wrong   uint64 // a reply failed verification
	Unknown uint64 // no answer in time, though asked several times
}

// auditTries is how often a state is asked for before its fate is called unknown.
const auditTries = 5

type audit struct {
	counts Audit
	queue  []int32 // users whose state is still to be read
	tries  int     // spent on the first of them
	asking bool
}

// ended takes in the end of one of the audit's reads.
func (a *audit) ended(d *stub.Completion) {
	a.asking = false
	a.tries++
	switch {
	case d.Outcome == session.OK:
		a.counts.Found++
	case d.Lost:
		a.counts.Lost++
	case d.Outcome == session.Wrong:
		a.counts.Wrong++
	case a.tries < auditTries:
		return // ask again
	default:
		a.counts.Unknown++
	}
	a.counts.Checked++
	a.queue, a.tries = a.queue[1:], 0
}

// BeginAudit makes the machine, once stopped, read back the last acknowledged
// write of every user, one after the other.
func (m *Machine) BeginAudit() {
	for i := range m.users {
		if m.users[i].kept {
			m.audit.queue = append(m.audit.queue, int32(i))
		}
	}
}

// StepAudit asks for the next state of the audit if nothing is under way; a question
// that failed at once is put again by the next call. It reports whether the audit goes on.
func (m *Machine) StepAudit(now time.Duration) bool {
	a := &m.audit
	for len(a.queue) > 0 && !a.asking {
		u := &m.users[a.queue[0]]
		if time.Duration(u.cookie.Expiry)*time.Second > now+m.cfg.Stub.Timeout {
			a.asking = true
			a := stub.Attempt{Tag: auditTag, Op: session.Read, Cookie: &u.cookie, Urgent: true}
			if m.cfg.Watch != nil {
				m.cfg.Watch.Began(now, m.cfg.ID, a)
			}
			m.carry(now, m.stub.Begin(now, &a))
			break
		}
		a.queue, a.tries = a.queue[1:], 0 // expired, or may be before the answer
	}
	return len(a.queue) > 0
}

// Audit returns what the audit has found so far.
func (m *Machine) Audit() Audit { return m.audit.counts }

// Add sums two audits up.
func (a *Audit) Add(b Audit) {
	a.Checked += b.Checked
	a.Found += b.Found
	a.Lost += b.Lost
	a.Wrong += b.Wrong
	a.Unknown += b.Unknown
}
