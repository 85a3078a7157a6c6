package search

import (
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// auditTag is the least tag of an audit's reads: users are numbered from 0.
const auditTag = 1 << 63

// turn is what a user's last attempt leaves for its next.
type turn struct {
	op      session.Op
	outcome session.Outcome
	cookie  session.Cookie // of the write that was ok, or of the read
	key     session.Key
	version session.Version // of its last write
}

// began takes in that a user begins an attempt.
func (m *machine) began(shown *stub.Attempt) {
	m.lapse()
	a := &attempt{Attempt: *shown, began: m.k.now, deadline: m.k.now + time.Duration(m.k.c.Timeout)}
	a.Value, a.Cookie = nil, nil
	if a.Op == session.Read {
		a.cookie = *shown.Cookie
	}
	if m.open[a.Tag] != nil {
		m.failf(Turn, 0, "user %d of machine %d began an attempt before its last one ended", a.Tag, m.index)
	}
	if audit := a.Tag >= auditTag; audit == (m.k.end == 0) || a.Urgent != audit {
		m.failf(Turn, 0, "machine %d began an attempt at a time that is not its own", m.index)
	}
	if a.Tag < auditTag {
		m.checkTurn(a)
	}
	m.open[a.Tag], m.beginning = a, a
	m.begun = append(m.begun, a)
	if a.Op == session.Write {
		n := name{a.Key, a.Version}
		if m.k.writes.states[n] != nil {
			m.failf(Turn, 0, "user %d of machine %d writes key %x version %d again", a.Tag, m.index, a.Key, a.Version)
		}
		m.k.writes.states[n] = &state{name: n, value: slices.Clone(shown.Value), lives: make(map[session.BrickID]int)}
	}
}

// checkTurn compares an attempt with the one before.
func (m *machine) checkTurn(a *attempt) {
	last, before := m.users[a.Tag]
	want := session.Write
	switch {
	case !before:
	case last.outcome == session.Rejected:
		want = last.op
	case last.op == session.Write && last.outcome == session.OK:
		want = session.Read
	}
	if a.Op != want {
		m.failf(Turn, 0, "user %d of machine %d began a %s, its turn is to %s", a.Tag, m.index, a.Op, want)
	}
	if a.Op == session.Read && a.cookie != last.cookie {
		m.failf(Turn, 0, "user %d of machine %d reads another state than it wrote last", a.Tag, m.index)
	}
	if a.Op == session.Write && before && (a.Key != last.key || a.Version <= last.version) {
		m.failf(Turn, 0, "user %d of machine %d writes key %x version %d after key %x version %d", a.Tag, m.index, a.Key, a.Version, last.key, last.version)
	}
	if a.Op == session.Write {
		last.key, last.version = a.Key, a.Version
		m.users[a.Tag] = last
	}
}

// ended checks how an attempt ended.
func (m *machine) ended(d *stub.Completion) {
	m.lapse()
	a := m.open[d.Tag]
	if a == nil || a.Op != d.Op {
		m.failf(Outcome, 0, "machine %d ended an attempt of user %d that is not under way: %s", m.index, d.Tag, d.Outcome)
		return
	}
	delete(m.open, d.Tag)
	a.ended = true
	if a.Op == session.Read {
		m.k.told(a, d)
	}
	late := m.k.now > a.deadline || (m.k.now == a.deadline && d.Outcome == session.OK && len(a.legs) > 0)
	early := d.Outcome == session.Timeout && m.k.now < a.deadline
	if late || early {
		m.failf(Outcome, 0, "a %s of machine %d ended %v after it began, with a time-out of %v: %s", a.Op, m.index, m.k.now-a.began, time.Duration(m.k.c.Timeout), d.Outcome)
	}
	if a.Op == session.Write {
		m.endedWrite(a, d)
	} else {
		m.endedRead(a, d)
	}
	if a.Tag >= auditTag {
		return
	}
	if m.k.measured() {
		m.k.tally.ended[d.Outcome]++
	}
	t := m.users[a.Tag]
	t.op, t.outcome, t.cookie = a.Op, d.Outcome, a.cookie
	if a.Op == session.Write {
		t.cookie = d.Cookie
	}
	m.users[a.Tag] = t
	if d.Outcome == session.OK {
		m.k.answered[user{m.index, a.Tag}] = m.k.now
	}
}

func (m *machine) endedWrite(a *attempt, d *stub.Completion) {
	wq := m.k.c.WQ
	if d.Outcome != session.OK {
		m.checkFailure(a, d.Outcome, m.all(), m.k.c.W)
		if len(a.legs) == 0 { // no brick has heard of it
			delete(m.k.writes.states, name{a.Key, a.Version})
		}
		return
	}
	c := &d.Cookie
	if len(a.acked) < wq || !slices.Equal(c.Bricks(), a.acked[:wq]) || c.Key != a.Key || c.Version != a.Version {
		m.failf(Quorum, 0, "a write of machine %d is ok with a cookie that names %v, when %v had acknowledged it and %d must", m.index, c.Bricks(), a.acked, wq)
	}
	s := m.k.writes.states[name{a.Key, a.Version}]
	if c.Expiry != s.expiry {
		m.failf(Quorum, 0, "a cookie of machine %d names another expiry than its write", m.index)
	}
	s.cookie = slices.Clone(c.Bricks())
	m.k.writes.acked = append(m.k.writes.acked, s)
}

func (m *machine) endedRead(a *attempt, d *stub.Completion) {
	c := &a.cookie
	switch {
	case d.Outcome == session.OK:
		if m.answered != a || m.reply.Status != session.Done {
			m.failf(Quorum, 0, "a read of machine %d is ok without an answer", m.index)
		}
		m.k.checkBytes(m.index, m.from, name{c.Key, c.Version}, m.reply.Value)
	case d.Outcome == session.Wrong:
		m.failf(Exact, 0, "a read of machine %d got an answer that does not verify", m.index)
	case d.Outcome == session.Refused && len(a.legs) == 0:
		if time.Duration(c.Expiry)*time.Second > m.k.now {
			m.failf(Outcome, 0, "machine %d refused to read a state %v before its expiry", m.index, time.Duration(c.Expiry)*time.Second-m.k.now)
		}
	default:
		m.checkFailure(a, d.Outcome, c.Bricks(), 1)
		m.checkGivenUp(a, d)
	}
}

// checkFailure checks that an attempt had to fail as it did, when so many of some bricks would do.
func (m *machine) checkFailure(a *attempt, outcome session.Outcome, among []session.BrickID, need int) {
	up, unbounded := m.reachable(among)
	if a.Op == session.Read {
		need = max(1, min(m.k.c.R, up))
	}
	var allowed bool
	switch outcome {
	case session.Rejected:
		allowed = len(a.legs) == 0 && up >= need && unbounded < need
	case session.Error:
		allowed = (len(a.legs) == 0 && up < need) || a.cut > 0
	case session.Refused:
		allowed = a.noes > 0
	case session.Timeout:
		allowed = len(a.legs) > 0
	}
	if !allowed {
		m.failf(Outcome, 0, "a %s of machine %d ended as %s, with %d requests sent, %d answered no, %d cut off, %d of its bricks reachable and %d of those without a window",
			a.Op, m.index, outcome, len(a.legs), a.noes, a.cut, up, unbounded)
	}
}

// checkGivenUp checks that a read which ended before its time-out had no brick left to ask.
func (m *machine) checkGivenUp(a *attempt, d *stub.Completion) {
	if len(a.legs) == 0 || d.Outcome == session.Timeout {
		return
	}
	s := m.k.writes.states[name{a.cookie.Key, a.cookie.Version}]
	for _, id := range a.cookie.Bricks() {
		asked := slices.ContainsFunc(a.legs, func(l leg) bool { return l.brick == id })
		bounded := m.k.world.View(m.index, id).Setting.Window && !a.Urgent
		if !asked && m.up[id-1] && !bounded {
			m.failf(Durable, 0, "a read of machine %d ended as %s though it had not asked %s", m.index, d.Outcome, id)
		}
		if (d.Lost || d.Corrupt) && s != nil && m.k.holds(id, s) {
			m.failf(Durable, 0, "a read of machine %d calls a state gone that %s holds", m.index, id)
		}
	}
}
