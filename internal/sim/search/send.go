package search

import (
	"bytes"
	"math"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// sent checks a request on its way out.
func (m *machine) sent(to session.BrickID, r *session.Request) {
	m.lapse()
	a := m.calls[r.ID]
	if a == nil {
		a = m.sentFirst(to, r)
	}
	view := m.k.world.View(m.index, to)
	m.inFlight[to-1]++
	switch {
	case !m.up[to-1]:
		m.failf(Copies, 0, "machine %d sent to %s, which it knew to be gone", m.index, to)
	case slices.ContainsFunc(a.legs, func(l leg) bool { return l.brick == to }):
		m.failf(Copies, 0, "machine %d sent the same request to %s twice", m.index, to)
	case r.Timeout <= 0 || m.k.now+r.Timeout > a.deadline:
		m.failf(Deadline, 0, "machine %d sent a request %v before its attempt times out, and told %s that it waits %v", m.index, a.deadline-m.k.now, to, r.Timeout)
	case view.Setting.Window && !a.Urgent && float64(m.inFlight[to-1]) > m.k.c.room(view.Window):
		m.failf(Window, to, "machine %d has %d in flight to %s, with a window of %.3g", m.index, m.inFlight[to-1], to, view.Window)
	}
	a.legs = append(a.legs, leg{to, true})
	if r.Op == session.Write {
		m.sentCopy(a, to, r)
	} else {
		m.sentRead(a, to, r)
	}
}

// room is how many a window lets be in flight at most. The fraction of a window is no room, save
// with paced, where it is the part of the time in which there is room for one more.
func (c *Case) room(window float64) float64 {
	if c.Policy == "paced" {
		return max(1, math.Ceil(window))
	}
	return max(1, window)
}

// sentFirst takes in the first request of an attempt.
func (m *machine) sentFirst(to session.BrickID, r *session.Request) *attempt {
	a := m.beginning
	if a == nil || len(a.legs) > 0 {
		m.failf(Copies, 0, "machine %d sent a request that belongs to no attempt under way", m.index)
		return nil
	}
	a.id = r.ID
	m.calls[r.ID] = a
	m.order = append(m.order, a)
	return a
}

func (m *machine) sentCopy(a *attempt, to session.BrickID, r *session.Request) {
	s := m.k.writes.states[name{r.Key, r.Version}]
	if a.Op != session.Write || s == nil || r.Key != a.Key || r.Version != a.Version || !bytes.Equal(r.Value, s.value) {
		m.failf(Copies, 0, "machine %d sent %s another write than its user began", m.index, to)
	}
	if len(a.legs) == 1 {
		s.expiry = r.Expiry
	}
	if r.Expiry != s.expiry || time.Duration(r.Expiry)*time.Second < m.k.now+time.Duration(m.k.c.Expiry) {
		m.failf(Copies, 0, "machine %d sent %s a copy that expires at another time than it should", m.index, to)
	}
	if a != m.beginning || len(a.legs) > m.k.c.W {
		m.failf(Copies, 0, "machine %d sent more than %d copies of a write, or one of them later", m.index, m.k.c.W)
	}
}

func (m *machine) sentRead(a *attempt, to session.BrickID, r *session.Request) {
	c := &a.cookie
	switch {
	case a.Op != session.Read || r.Key != c.Key || r.Version != c.Version || r.Expiry != c.Expiry:
		m.failf(Copies, 0, "machine %d asked %s for another state than its user", m.index, to)
	case !slices.Contains(c.Bricks(), to):
		m.failf(Copies, 0, "machine %d asked %s for a state, which its cookie does not name", m.index, to)
	case a == m.beginning && len(a.legs) > m.k.c.R:
		m.failf(Copies, 0, "machine %d asked more than %d bricks at once", m.index, m.k.c.R)
	case a.ended:
		m.failf(Copies, 0, "machine %d asked %s for a state when the attempt had ended", m.index, to)
	}
}

// checkBegun checks the attempts that the stub was asked for in this event, now that it
// has done what it does at once.
func (m *machine) checkBegun() {
	for _, a := range m.begun {
		if a.Op == session.Write && len(a.legs) != 0 && len(a.legs) != m.k.c.W {
			m.failf(Copies, 0, "machine %d sent %d copies of a write, not %d", m.index, len(a.legs), m.k.c.W)
		}
		if len(a.legs) == 0 && !a.ended {
			m.failf(Outcome, 0, "an attempt of machine %d was neither sent nor ended", m.index)
		}
	}
	m.begun, m.beginning = m.begun[:0], nil
}

// reachable counts the bricks that the machine knows to be there, and those of them that
// keep no window.
func (m *machine) reachable(among []session.BrickID) (up, unbounded int) {
	for _, id := range among {
		if !m.up[id-1] {
			continue
		}
		up++
		if !m.k.world.View(m.index, id).Setting.Window {
			unbounded++
		}
	}
	return up, unbounded
}

// all lists the cluster.
func (m *machine) all() []session.BrickID {
	ids := make([]session.BrickID, len(m.up))
	for i := range ids {
		ids[i] = session.BrickID(i + 1)
	}
	return ids
}
