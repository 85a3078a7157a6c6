package stub

import (
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// published is a stub of the published setting that has met all of its eight bricks.
func published(s protect.Setting) *Core {
	cfg := Config{
		Quorum:  session.Quorum{W: 3, WQ: 2, R: 1},
		Timeout: 60 * time.Millisecond, TTL: 2 * time.Minute,
		Policy: protect.Policies()[0], Seed: 1,
	}
	for id := session.BrickID(1); id <= 8; id++ {
		cfg.Bricks = append(cfg.Bricks, id)
	}
	c := New(cfg)
	for _, id := range cfg.Bricks {
		c.Up(id, s)
	}
	return c
}

// user writes and reads back without end, and allocates nothing itself.
type user struct {
	core   *Core
	now    time.Duration
	sends  []Send
	write  Attempt
	read   Attempt
	cookie session.Cookie
	oks    int
}

func newUser(c *Core) *user {
	u := &user{core: c, write: Attempt{Op: session.Write, Key: 1, Version: 1, Value: scriptValue}}
	u.read = Attempt{Op: session.Read, Cookie: &u.cookie}
	return u
}

func (u *user) attempt(a *Attempt) {
	u.now += time.Millisecond
	u.sends = append(u.sends[:0], u.core.Begin(u.now, a).Sends...)
	for i := range u.sends {
		r := session.Reply{ID: u.sends[i].Request.ID, Value: scriptValue}
		for _, d := range u.core.Reply(u.now, u.sends[i].To, &r).Done {
			if d.Outcome == session.OK {
				u.oks++
			}
			if d.Op == session.Write {
				u.cookie = d.Cookie
			}
		}
	}
}

func (u *user) cycle() { u.attempt(&u.write); u.attempt(&u.read) }

func TestBeginAndReplyAllocateNothing(t *testing.T) {
	for _, s := range []protect.Setting{protect.On, protect.Off} {
		u := newUser(published(s))
		for range 1000 {
			u.cycle() // slices have their size
		}
		u.oks = 0
		if n := testing.AllocsPerRun(1000, u.cycle); n > 0 {
			t.Errorf("protection %v: a write and a read allocate %v times", s, n)
		}
		if u.oks != 2*1001 {
			t.Errorf("protection %v: %d of %d attempts are OK", s, u.oks, 2*1001)
		}
	}
}

func TestRefusalAllocatesNothing(t *testing.T) {
	c := published(protect.On)
	a := Attempt{Op: session.Write, Key: 1, Version: 1, Value: scriptValue}
	for range 3 {
		c.Begin(0, &a) // takes the room of three bricks at a time
	}
	if n := testing.AllocsPerRun(1000, func() {
		if fx := c.Begin(0, &a); len(fx.Done) != 1 || fx.Done[0].Outcome != session.Rejected {
			t.Fatalf("effects %+v", *fx)
		}
	}); n > 0 {
		t.Errorf("a refusal allocates %v times", n)
	}
}

// Time-outs without end neither allocate nor let what the stub holds grow.
func TestTimeoutsAllocateNothing(t *testing.T) {
	c := published(protect.Off)
	a := Attempt{Op: session.Write, Key: 1, Version: 1, Value: scriptValue}
	now := time.Duration(0)
	step := func() {
		now += time.Millisecond
		c.Begin(now, &a)
		c.Expire(now)
	}
	for range 1000 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n > 0 {
		t.Errorf("an attempt that times out allocates %v times", n)
	}
	if slots, order := len(c.calls.slots), cap(c.calls.order); slots > 61 || order > 512 {
		t.Errorf("%d slots, an order of %d for 60 calls in flight", slots, order)
	}
}

// Each brick gets its share of the writes, and each pair of bricks its share of cookies.
func TestBricksAreDrawnEvenly(t *testing.T) {
	c := published(protect.Off)
	u := newUser(c)
	const writes = 56_000
	copies := make(map[session.BrickID]int)
	pairs := make(map[[2]session.BrickID]int)
	for range writes {
		u.attempt(&u.write)
		for i := range u.sends {
			copies[u.sends[i].To]++
		}
		b := u.cookie.Bricks()
		pairs[[2]session.BrickID{min(b[0], b[1]), max(b[0], b[1])}]++
	}
	if len(copies) != 8 || len(pairs) != 28 {
		t.Fatalf("%d bricks and %d pairs were drawn", len(copies), len(pairs))
	}
	for id, n := range copies {
		if n < 20_400 || n > 21_600 { // 21,000 is even, 5 standard deviations
			t.Errorf("%v: %d copies of %d writes", id, n, writes)
		}
	}
	for pair, n := range pairs {
		if n < 1_770 || n > 2_230 { // 2,000 is even
			t.Errorf("%v: %d cookies of %d", pair, n, writes)
		}
	}
}

// The same seed and the same events give the same sends.
func TestSameSeedSameSends(t *testing.T) {
	a, b := newUser(published(protect.Off)), newUser(published(protect.Off))
	for i := range 1000 {
		a.attempt(&a.write)
		b.attempt(&b.write)
		for j := range a.sends {
			if a.sends[j].To != b.sends[j].To {
				t.Fatalf("write %d goes to %v and to %v", i, a.sends[j].To, b.sends[j].To)
			}
		}
	}
}

func TestSettingAndReachable(t *testing.T) {
	c := published(protect.On)
	for id := session.BrickID(1); id <= 8; id++ {
		c.Down(0, id)
	}
	check := func(what string, want protect.Setting, wantAgreed bool, wantUp int) {
		t.Helper()
		if s, agreed := c.Setting(); s != want || agreed != wantAgreed || c.Reachable() != wantUp {
			t.Errorf("%s: %v, agreed %v, %d up; want %v, %v, %d", what, s, agreed, c.Reachable(), want, wantAgreed, wantUp)
		}
	}
	check("none", protect.Off, true, 0)
	c.Up(5, protect.On)
	check("one", protect.On, true, 1)
	c.Up(2, protect.WindowOnly)
	check("two that differ", protect.WindowOnly, false, 2)
	c.Heard(2, protect.On)
	check("two that agree", protect.On, true, 2)
	c.Heard(3, protect.Off)
	check("one that is down does not count", protect.On, true, 2)
	c.Up(99, protect.Off)
	check("one of another cluster does not count", protect.On, true, 2)
}

func BenchmarkWriteAndRead(b *testing.B) {
	u := newUser(published(protect.On))
	b.ReportAllocs()
	for b.Loop() {
		u.cycle()
	}
}
