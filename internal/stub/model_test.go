package stub

import (
	"time"

	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// operation is one request to one brick, as an observer of the stub's sends sees it.
type operation struct {
	id      uint64
	brick   session.BrickID
	attempt *attempt
	pending bool
}

// attempt is what an observer knows of an attempt.
type attempt struct {
	op       session.Op
	deadline time.Duration
	cookie   session.Cookie
	acked    map[session.BrickID]bool // copies acknowledged, or replies that verify
	denied   map[session.BrickID]bool // replies that say not found
}

// observer drives a stub at random and keeps, by the dumbest means, what must be true of it.
type observer struct {
	core    *Core
	cfg     Config
	now     time.Duration
	tags    uint64
	open    map[uint64]*attempt // begun, not completed
	ops     []*operation
	late    uint64
	cookies []session.Cookie // of writes that are OK
}

func newObserver(t *rapid.T) *observer {
	w := rapid.IntRange(1, 4).Draw(t, "W")
	wq := rapid.IntRange(1, w).Draw(t, "WQ")
	cfg := Config{
		Quorum:  session.Quorum{W: w, WQ: wq, R: rapid.IntRange(1, wq).Draw(t, "R")},
		Timeout: 60 * time.Millisecond, TTL: 2 * time.Second,
		Policy: rapid.SampledFrom(protect.Policies()).Draw(t, "policy"), Seed: rapid.Uint64().Draw(t, "seed"),
	}
	for i := range rapid.IntRange(w, 6).Draw(t, "bricks") {
		cfg.Bricks = append(cfg.Bricks, session.BrickID(i+1))
	}
	o := &observer{core: New(cfg), cfg: cfg, open: make(map[uint64]*attempt)}
	for _, id := range cfg.Bricks {
		o.core.Up(id, protect.On)
	}
	return o
}

func (o *observer) inFlight(id session.BrickID) (n int) {
	for _, op := range o.ops {
		if op.pending && op.brick == id {
			n++
		}
	}
	return n
}

// expire does what every call that can complete an attempt does first.
func (o *observer) expire() {
	for _, op := range o.ops {
		if op.attempt.deadline <= o.now {
			op.pending = false
		}
	}
}

// begin starts an attempt; what it sends and completes is checked by took.
func (o *observer) begin(t *rapid.T, a *Attempt) {
	o.tags++
	a.Tag = o.tags
	began := &attempt{
		op: a.Op, deadline: o.now + o.cfg.Timeout,
		acked: make(map[session.BrickID]bool), denied: make(map[session.BrickID]bool),
	}
	if a.Cookie != nil {
		began.cookie = *a.Cookie
	}
	o.open[a.Tag] = began
	fx := o.core.Begin(o.now, a)
	if len(fx.Done) > 1 || len(fx.Done)*len(fx.Sends) > 0 {
		t.Fatalf("an attempt begins with %d sends and %d completions", len(fx.Sends), len(fx.Done))
	}
	want := o.cfg.Quorum.W
	if a.Op == session.Read {
		want = o.cfg.Quorum.R
	}
	if len(fx.Sends) > want || a.Op == session.Write && len(fx.Done) == 0 && len(fx.Sends) != want {
		t.Fatalf("%v to %d bricks, want %d", a.Op, len(fx.Sends), want)
	}
	o.took(t, fx, began)
}

// took takes effects in. Sends of a Begin are those of the attempt that began; others
// are a read's that falls back, and have the id of its operations before.
func (o *observer) took(t *rapid.T, fx *Effects, began *attempt) {
	for i := range fx.Sends {
		o.sent(t, &fx.Sends[i], began)
	}
	for i := range fx.Sends {
		b := &o.core.bricks[o.core.index[fx.Sends[i].To]]
		if !b.up || b.setting.Window && float64(o.inFlight(b.id)) > max(1, b.window.Size()) {
			t.Fatalf("sent to %v: up %v, %d in flight, window %v", b.id, b.up, o.inFlight(b.id), b.window.Size())
		}
	}
	for i := range fx.Done {
		o.completed(t, &fx.Done[i])
	}
}

func (o *observer) sent(t *rapid.T, s *Send, began *attempt) {
	a := began
	for _, op := range o.ops {
		if op.id != s.Request.ID {
			continue
		}
		if op.brick == s.To {
			t.Fatalf("%v is asked twice for the same", s.To)
		}
		a = op.attempt
	}
	if a == nil || began != nil && a != began {
		t.Fatalf("a send to %v whose id is that of another attempt", s.To)
	}
	if s.Request.Timeout <= 0 || o.now+s.Request.Timeout != a.deadline {
		t.Fatalf("at %v a time-out of %v, the deadline is %v", o.now, s.Request.Timeout, a.deadline)
	}
	o.ops = append(o.ops, &operation{id: s.Request.ID, brick: s.To, attempt: a, pending: true})
}

// completed checks the end of an attempt against what its bricks have answered.
func (o *observer) completed(t *rapid.T, d *Completion) {
	a := o.open[d.Tag]
	if a == nil || a.op != d.Op {
		t.Fatalf("completion %+v of no open attempt", *d)
	}
	delete(o.open, d.Tag)
	if timedOut := d.Outcome == session.Timeout; timedOut != (o.now >= a.deadline) {
		t.Fatalf("%v at %v, the deadline is %v", d.Outcome, o.now, a.deadline)
	}
	for _, id := range a.cookie.Bricks() {
		if d.Lost && !a.denied[id] {
			t.Fatalf("lost, but %v has not denied it", id)
		}
	}
	switch {
	case d.Outcome != session.OK:
	case a.op == session.Write:
		o.written(t, a, &d.Cookie)
	case len(a.acked) == 0:
		t.Fatal("a read without a reply that verifies is OK")
	}
}

// written checks the cookie of a write that is OK.
func (o *observer) written(t *rapid.T, a *attempt, cookie *session.Cookie) {
	named := make(map[session.BrickID]bool)
	for _, id := range cookie.Bricks() {
		if !a.acked[id] {
			t.Fatalf("the cookie names %v, which has not acknowledged", id)
		}
		named[id] = true
	}
	if len(named) != o.cfg.Quorum.WQ || len(cookie.Bricks()) != len(named) {
		t.Fatalf("the cookie names %v, WQ is %d", cookie.Bricks(), o.cfg.Quorum.WQ)
	}
	o.cookies = append(o.cookies, *cookie)
}
