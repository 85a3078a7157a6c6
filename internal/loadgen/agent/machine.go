package agent

import (
	"context"
	"crypto/tls"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/clock"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub/link"
)

// machine runs one load machine: it hands its core what connections bring and the
// time, and carries out what the core asks for.
type machine struct {
	mu    sync.Mutex
	core  *loadgen.Machine
	links map[session.BrickID]*link.Link
	armed time.Duration // when the stepper will come by itself; 0 is never
	alarm *clock.Alarm
	moves func(session.BrickID, bool) // told of bricks that come and go

	started atomic.Bool // and not yet closed: brick moves are news
}

func newMachine(cfg loadgen.MachineConfig, rec loadgen.Observer, moves func(session.BrickID, bool)) *machine {
	m := &machine{links: make(map[session.BrickID]*link.Link), alarm: clock.NewAlarm(), moves: moves}
	m.core = loadgen.NewMachine(cfg, m, rec)
	return m
}

// connect opens the machine's own connections.
func (m *machine) connect(bricks []remote.Brick, cfg *tls.Config) {
	m.mu.Lock() // links may report before all are open
	defer m.mu.Unlock()
	for _, b := range bricks {
		m.links[b.ID] = link.Open(b.ID, b.Addr, cfg, m)
	}
}

func (m *machine) close() {
	m.started.Store(false) // bricks that go now are let go
	for _, l := range m.links {
		l.Close()
	}
}

// Send implements loadgen.Outlet; the core calls it while the machine is locked.
func (m *machine) Send(to session.BrickID, r *session.Request) { m.links[to].Send(r) }

// Up implements link.Handler.
func (m *machine) Up(id session.BrickID, s protect.Setting) {
	m.with(func(now time.Duration) { m.core.Up(now, id, s) })
	if m.started.Load() {
		m.moves(id, true)
	}
}

// Heard implements link.Handler.
func (m *machine) Heard(id session.BrickID, s protect.Setting) {
	m.with(func(now time.Duration) { m.core.Heard(now, id, s) })
}

// Share implements link.Handler.
func (m *machine) Share(id session.BrickID, ops float64) {
	m.with(func(time.Duration) { m.core.Share(id, ops) })
}

// Lives implements link.Handler.
func (m *machine) Lives(id session.BrickID, uptime time.Duration) {
	m.with(func(now time.Duration) { m.core.Lives(now, id, uptime) })
}

// Reply implements link.Handler.
func (m *machine) Reply(id session.BrickID, r *session.Reply) {
	m.with(func(now time.Duration) { m.core.Reply(now, id, r) })
}

// Down implements link.Handler.
func (m *machine) Down(id session.BrickID) {
	m.with(func(now time.Duration) { m.core.Down(now, id) })
	if m.started.Load() {
		m.moves(id, false)
	}
}

// with lets the core take in an event and do at once what that makes due.
func (m *machine) with(event func(now time.Duration)) {
	m.mu.Lock()
	now := clock.Now()
	event(now)
	next := m.core.Next()
	if next != 0 && next <= now+1 { // a user without a time of its own goes on at once
		next = m.core.Step(clock.Now())
	}
	if next != 0 && (m.armed == 0 || next < m.armed) {
		m.armed = next
		m.alarm.Set(next)
	}
	m.mu.Unlock()
}

// run steps the core whenever something is due, until ctx ends.
func (m *machine) run(ctx context.Context) {
	defer m.alarm.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.alarm.C:
		}
		m.mu.Lock()
		if m.armed = m.core.Step(clock.Now()); m.armed != 0 {
			m.alarm.Set(m.armed)
		}
		m.mu.Unlock()
	}
}

func (m *machine) start() {
	m.started.Store(true)
	m.with(m.core.Start)
}

// stop lets no user begin again and reports whether all is quiet.
func (m *machine) stop() (idle bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.core.Stop()
	return m.core.Idle()
}

func (m *machine) beginAudit() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.core.BeginAudit(clock.Now())
}

// stepAudit asks for one more state of the audit and reports whether there was one.
func (m *machine) stepAudit() (asked bool) {
	m.with(func(now time.Duration) { asked = m.core.StepAudit(now) })
	return asked
}

// read lets f look at the core.
func (m *machine) read(f func(*loadgen.Machine)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.core)
}
