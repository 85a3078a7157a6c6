package search

import (
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/sim"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// machine is what the checker knows of a load machine: its users' attempts and what its
// stub has on the wire.
type machine struct {
	k         *checker
	index     int
	up        []bool // by brick
	inFlight  []int  // by brick
	open      map[uint64]*attempt
	calls     map[uint64]*attempt // that have been sent, until their time-out
	order     []*attempt          // the same, by time-out
	begun     []*attempt          // in this event
	beginning *attempt            // the last of them: the stub is asked for it now
	answered  *attempt            // it got the reply of this event
	reply     *session.Reply
	from      session.BrickID
	users     map[uint64]turn
}

// attempt is one of a user, from its beginning to its time-out.
type attempt struct {
	stub.Attempt
	cookie   session.Cookie // reads
	id       uint64         // on the wire, once it was sent
	began    time.Duration
	deadline time.Duration
	legs     []leg
	acked    []session.BrickID // writes: in order
	noes     int               // answers other than yes
	cut      int               // legs that were cut off
	ended    bool
}

// leg is one request of an attempt.
type leg struct {
	brick session.BrickID
	open  bool
}

func newMachine(k *checker, index int) *machine {
	return &machine{
		k: k, index: index, up: make([]bool, k.c.Bricks), inFlight: make([]int, k.c.Bricks),
		open: make(map[uint64]*attempt), calls: make(map[uint64]*attempt),
		users: make(map[uint64]turn),
	}
}

func (m *machine) see(s *sim.Sight) {
	switch s.What {
	case sim.Began:
		m.began(s.Attempt)
	case sim.Sent:
		m.sent(s.Brick, s.Request)
	case sim.Delivered:
		m.delivered(s.Brick, s.Reply)
	case sim.Ended:
		m.ended(s.Completion)
	case sim.Settled:
		m.settled()
	case sim.Met:
		m.up[s.Brick-1] = true
	case sim.Parted:
		m.parted(s.Brick)
	}
}

func (m *machine) failf(i Invariant, id session.BrickID, format string, args ...any) {
	m.k.failf(i, m.index, id, format, args...)
}

// lapse lets go of what has timed out by now. The stub must do so too before the event is over.
func (m *machine) lapse() {
	n := 0
	for n < len(m.order) && m.order[n].deadline <= m.k.now {
		a := m.order[n]
		for i := range a.legs {
			m.close(&a.legs[i])
		}
		delete(m.calls, a.id)
		n++
	}
	m.order = m.order[n:]
}

func (m *machine) close(l *leg) {
	if l.open {
		l.open = false
		m.inFlight[l.brick-1]--
	}
}

// delivered takes in a reply, which counts if its request is still in flight.
func (m *machine) delivered(from session.BrickID, r *session.Reply) {
	m.lapse()
	m.answered, m.reply, m.from = nil, nil, 0
	a := m.calls[r.ID]
	if a == nil {
		m.late()
		return
	}
	i := slices.IndexFunc(a.legs, func(l leg) bool { return l.brick == from })
	if i < 0 {
		m.failf(Copies, from, "%s answers a request that it was not sent", from)
	}
	if !a.legs[i].open { // the connection had gone
		m.late()
		return
	}
	m.close(&a.legs[i])
	m.answered, m.reply, m.from = a, r, from
	switch {
	case r.Status != session.Done:
		a.noes++
	case a.Op == session.Write:
		a.acked = append(a.acked, from)
	}
}

func (m *machine) late() {
	if m.k.measured() {
		m.k.tally.late++
	}
}

// parted takes in that a brick has gone: what was in flight to it is cut off.
func (m *machine) parted(id session.BrickID) {
	m.lapse()
	m.up[id-1] = false
	for _, a := range m.order {
		for i := range a.legs {
			if l := &a.legs[i]; l.brick == id && l.open {
				m.close(l)
				a.cut++
			}
		}
	}
}

// settled checks what must be so between events.
func (m *machine) settled() {
	m.lapse()
	m.checkBegun()
	for i, mine := range m.inFlight {
		id := session.BrickID(i + 1)
		if v := m.k.world.View(m.index, id); v.InFlight != mine {
			m.failf(InFlight, id, "the stub of machine %d counts %d in flight to %s, it is %d", m.index, v.InFlight, id, mine)
		}
	}
	if a := m.answered; a != nil && a.Op == session.Write && len(a.acked) >= m.k.c.WQ && !a.ended {
		m.failf(Outcome, m.from, "a write of machine %d has %d acknowledgements and does not end", m.index, len(a.acked))
	}
	m.answered, m.reply = nil, nil
}

// over checks that nothing is left.
func (m *machine) over() {
	m.lapse()
	for _, a := range m.open {
		if a.deadline <= m.k.now {
			m.failf(Outcome, 0, "an attempt of machine %d never ended", m.index)
		}
	}
}
