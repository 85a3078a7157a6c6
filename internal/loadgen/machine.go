package loadgen

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// Outlet carries a machine's requests to the bricks. The request and its value are
// lent for the length of the call.
type Outlet interface {
	Send(to session.BrickID, r *session.Request)
}

// Observer is told what happens on a machine; see Recorder, which is one.
type Observer interface {
	// Attempt tells of the end of an attempt.
	Attempt(now time.Duration, a Attempt)
	// Late tells of a reply that came too late.
	Late(now time.Duration)
	// Setting tells of the protection that the machine's bricks announce.
	Setting(now time.Duration, s protect.Setting, agreed bool)
	// Lag tells by how much a user's turn came later than planned.
	Lag(now, late time.Duration)
}

// MachineConfig describes one load machine: a stub and its users.
type MachineConfig struct {
	ID      int // from 0; decides keys and randomness together with Seed
	Threads int // users of a closed loop
	Size    int // bytes of a state, MinSize to MaxSize
	Stub    stub.Config
	Users   profile.Users
	Seed    uint64
	Nonce   uint64        // tells the keys of this run from those of any other
	Join    time.Duration // users begin one by one within this time, so that they do not march in step
	Rate    float64       // attempts per second of an open loop; 0 is a closed loop
	Watch   Watcher       // nil is nobody
	Begin   time.Duration // since Start: the users begin from then on
	End     time.Duration // since Start: no user begins again from then on; 0 is not before Stop
}

// Machine is a load machine: it turns the ends of attempts into the beginnings of
// the next. It is not safe for concurrent use; now must never go backwards.
type Machine struct {
	cfg      MachineConfig
	stub     *stub.Core
	users    []user
	turns    schedule
	arrivals arrivals // of an open loop
	rng      *rand.Rand
	value    []byte // stamped anew for every write
	out      Outlet
	rec      Observer
	audit    audit
	until    time.Duration // the end of the users' time; 0 is none
	stopped  bool
}

// NewMachine returns a machine that can meet its bricks. Its users begin with Start.
func NewMachine(cfg MachineConfig, out Outlet, rec Observer) *Machine {
	seed := mix(cfg.Seed ^ mix(uint64(cfg.ID)))
	cfg.Stub.Seed = seed
	m := &Machine{
		cfg: cfg, out: out, rec: rec,
		stub:  stub.New(cfg.Stub),
		rng:   rand.New(rand.NewPCG(seed, 1)),
		value: body(cfg.Size, cfg.Seed),
		audit: audit{lives: make(lives)},
	}
	return m
}

// Start lets the users begin, when their time has come.
func (m *Machine) Start(now time.Duration) {
	if m.cfg.End > 0 {
		m.until = now + m.cfg.End
	}
	begin := now + m.cfg.Begin
	if m.cfg.Rate > 0 {
		m.arrivals = arrivals{rate: m.cfg.Rate}
		m.arrivals.draw(begin, m.rng)
		return
	}
	for i := range m.cfg.Threads {
		m.addUser()
		m.turns.push(due{at: begin + time.Duration(m.rng.Float64()*float64(m.cfg.Join)), user: int32(i)})
	}
}

// body is a value of which only the stamp will change.
func body(size int, seed uint64) []byte {
	rng := rand.NewPCG(seed, 2)
	value := make([]byte, (size+7)&^7)
	for i := 0; i < len(value); i += 8 {
		binary.LittleEndian.PutUint64(value[i:], rng.Uint64())
	}
	return value[:size]
}

func (m *Machine) addUser() {
	id := uint64(m.cfg.ID)<<32 | uint64(len(m.users))
	m.users = append(m.users, user{key: session.Key(mix(m.cfg.Nonce ^ mix(id)))})
}

// Up tells of a brick's first sign of life, with the protection it announces.
func (m *Machine) Up(now time.Duration, id session.BrickID, s protect.Setting) {
	m.stub.Up(id, s)
	m.note(now)
}

// Heard tells of the protection in a brick's heartbeat.
func (m *Machine) Heard(now time.Duration, id session.BrickID, s protect.Setting) {
	m.stub.Heard(id, s)
	m.note(now)
}

// Share tells of the operations in flight that a brick offers each of its stubs.
func (m *Machine) Share(id session.BrickID, ops float64) { m.stub.Share(id, ops) }

// note tells the recorder of the bricks' protection. Without a brick nothing is
// known of it, and what was known last stands.
func (m *Machine) note(now time.Duration) {
	if m.stub.Reachable() == 0 {
		return
	}
	s, agreed := m.stub.Setting()
	m.rec.Setting(now, s, agreed)
}

// Lives tells for how long a brick that is up has been so, as its heartbeats say.
func (m *Machine) Lives(now time.Duration, id session.BrickID, uptime time.Duration) {
	m.audit.lives.up(now, id, uptime)
}

// Damaged tells that a brick may have lost some of what it held, though it has not died.
func (m *Machine) Damaged(now time.Duration, id session.BrickID) {
	m.audit.lives.damaged(now, id)
}

// Down tells that a brick cannot be reached.
func (m *Machine) Down(now time.Duration, id session.BrickID) {
	m.audit.lives.gone(now, id)
	m.carry(now, m.stub.Down(now, id))
	m.note(now)
}

// Reply tells of a brick's answer.
func (m *Machine) Reply(now time.Duration, from session.BrickID, r *session.Reply) {
	if r.Status == session.Corrupt {
		m.audit.lives.damaged(now, from)
	}
	late := m.stub.Counts().Late
	m.carry(now, m.stub.Reply(now, from, r))
	if m.stub.Counts().Late > late {
		m.rec.Late(now)
	}
}

// Step does everything that is due: time-outs, then the users' turns. It returns
// when it must be called again, or zero if only an event from outside can bring more.
func (m *Machine) Step(now time.Duration) time.Duration {
	m.carry(now, m.stub.Expire(now))
	if m.until != 0 && now >= m.until {
		m.stopped = true
	}
	for !m.stopped && len(m.turns) > 0 && m.turns[0].at <= now {
		d := m.turns.pop()
		m.rec.Lag(now, now-d.at)
		m.begin(now, d.user, now)
	}
	for !m.stopped && m.arrivals.rate > 0 && m.arrivals.next <= now {
		m.arrive(now)
	}
	return m.Next()
}

// Next returns when Step must be called, as Step does.
func (m *Machine) Next() time.Duration {
	next := m.stub.Deadline()
	earlier := func(at time.Duration) {
		if next == 0 || at < next {
			next = at
		}
	}
	if m.stopped {
		return next
	}
	if len(m.turns) > 0 {
		earlier(m.turns[0].at)
	}
	if m.arrivals.rate > 0 {
		earlier(m.arrivals.next)
	}
	return next
}

// Stop lets no user begin again. What is in flight ends by itself within the time-out.
func (m *Machine) Stop() { m.stopped = true }

// Idle reports whether nothing is in flight.
func (m *Machine) Idle() bool { return m.stub.Deadline() == 0 }

// Copies returns the stub's sums over acknowledged writes.
func (m *Machine) Copies() stub.Counts { return m.stub.Counts() }

// Reachable returns how many bricks are up.
func (m *Machine) Reachable() int { return m.stub.Reachable() }

// begin starts a user's next attempt, whose latency counts from began.
func (m *Machine) begin(now time.Duration, i int32, began time.Duration) {
	u := &m.users[i]
	u.began, u.sent = began, now
	a := stub.Attempt{Tag: uint64(i), Op: u.next(), Cookie: &u.cookie}
	if a.Op == session.Write {
		u.version++
		u.stamp(m.value)
		a.Key, a.Version, a.Value = u.key, u.version, m.value
	}
	if m.cfg.Watch != nil {
		m.cfg.Watch.Began(now, m.cfg.ID, a)
	}
	m.carry(now, m.stub.Begin(now, &a))
}

// carry carries out what the stub asks for.
func (m *Machine) carry(now time.Duration, fx *stub.Effects) {
	for i := range fx.Sends {
		m.out.Send(fx.Sends[i].To, &fx.Sends[i].Request)
	}
	for i := range fx.Done {
		m.ended(now, &fx.Done[i])
	}
}

// ended records the end of an attempt and plans the user's next.
func (m *Machine) ended(now time.Duration, d *stub.Completion) {
	if m.cfg.Watch != nil {
		m.cfg.Watch.Ended(now, m.cfg.ID, d)
	}
	if d.Tag&auditTag != 0 {
		m.audit.ended(now, d, m.cfg.Stub.Timeout)
		return
	}
	i := int32(d.Tag)
	u := &m.users[i]
	switch {
	case d.Op == session.Read:
		m.audit.gone(now, d, &u.cookie)
	case d.Outcome == session.OK:
		m.audit.memory.add(now, &d.Cookie, u.sent)
	}
	u.learn(d.Op, d.Outcome, &d.Cookie)
	rest := pause(m.rng, &m.cfg.Users, d.Outcome)
	m.rec.Attempt(now, Attempt{
		Machine: m.cfg.ID, Op: d.Op, Outcome: d.Outcome, Latency: now - u.began, Rest: rest, Lost: d.Lost,
	})
	if m.cfg.Rate > 0 {
		m.arrivals.idle = append(m.arrivals.idle, i)
		return
	}
	// A user's next turn is never in the same instant: one that is refused at once
	// and comes back at once would hold up all others for ever.
	m.turns.push(due{at: now + max(rest, 1), user: i})
}
