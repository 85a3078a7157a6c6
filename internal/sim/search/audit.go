package search

import (
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// audit is what a level's audit should say, counted from what users were told.
type audit struct {
	gone  uint64 // states that users found lost or corrupt before they had expired
	due   uint64 // acknowledged, unexpired and not among these when the audit began
	found uint64
	lost  uint64 // by users too
}

// told takes in what the end of a read says of an acknowledged state.
func (k *checker) told(a *attempt, d *stub.Completion) {
	s := k.writes.states[name{a.cookie.Key, a.cookie.Version}]
	if s == nil || s.cookie == nil {
		return
	}
	switch {
	case a.Tag >= auditTag && d.Outcome == session.OK:
		k.audit.found++
	case a.Tag >= auditTag && d.Lost:
		k.audit.lost++
	case a.Tag >= auditTag || s.gone || s.expired(k.now) || (!d.Lost && !d.Corrupt):
	default:
		s.gone = true
		k.audit.gone++
		if d.Lost {
			k.audit.lost++
		}
	}
}

// beginAudit counts what the audit is to ask for.
func (k *checker) beginAudit() {
	for _, s := range k.writes.acked {
		if !s.gone && !s.expired(k.now) {
			k.audit.due++
		}
	}
}

// checkAudit compares what a level says of its audit with what was due and what users were told.
// A state may be lost only if all its bricks have failed it.
func (k *checker) checkAudit(a *result.Audit) {
	switch want := &k.audit; {
	case a.Writes != want.due+want.gone || a.Found != want.found || a.Lost != want.lost:
		k.failf(Books, -1, 0, "the audit counts %s: %d were due, users had found %d gone, %d were found and %d lost", a, want.due, want.gone, want.found, want.lost)
	case a.Lost != a.Allowed:
		k.failf(Durable, -1, 0, "the audit found %d states lost, and for %d of them not all bricks had failed", a.Lost, a.Lost-a.Allowed)
	case a.Stale > 0:
		k.failf(Exact, -1, 0, "the audit found %d states of another version", a.Stale)
	}
}
