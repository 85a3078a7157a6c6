package brickd_test

import (
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

// blocked is a brick whose processor takes the size of a write for its cost, and that
// is busy with one for two seconds: all that arrives meanwhile waits in its inbox.
func blocked(t *testing.T, cfg brickd.Config) *client {
	t.Helper()
	const size, busy = 200 << 10, 2 * time.Second
	cfg.Profile = emulated(time.Microsecond, busy/(size>>10))
	c := dial(t, start(t, cfg).addr)
	c.request(write(0, 0, make([]byte, size)))
	c.until("busy", func(s session.BrickStats) bool { return s.Writes == 1 && s.InboxLen == 0 })
	return c
}

// writes are n small ones, numbered from 1.
func writes(n int) []session.Request {
	var ops []session.Request
	for i := range n {
		ops = append(ops, write(uint64(i+1), session.Key(i+1), []byte{byte(i)}))
	}
	return ops
}

// expect waits for the replies of these operations, in this order.
func (c *client) expect(ids ...uint64) {
	c.t.Helper()
	for _, id := range ids {
		if r := c.reply(); r.ID != id || r.Status != session.Done {
			c.t.Fatalf("reply %+v, want %d", r, id)
		}
	}
}

// An inbox that is full drops what arrives, not what waits.
func TestInboxBound(t *testing.T) {
	t.Parallel()
	const room, sent = 3, 10
	const weight = 128 + 1 // of an operation in the inbox: bookkeeping and one byte
	c := blocked(t, brickd.Config{InboxBytes: room*weight + weight/2})
	c.request(writes(sent)...)
	s := c.status()
	if s.InboxLen != room || s.InboxBytes != room*weight || s.Dropped != sent-room {
		t.Errorf("status: %+v", s)
	}
	c.expect(0, 1, 2, 3)
	last := write(99, 99, nil)
	c.request(last) // there is room again
	c.expect(99)
}

// Only what is dead when its turn comes is discarded: it gets no reply.
func TestDiscard(t *testing.T) {
	t.Parallel()
	c := blocked(t, brickd.Config{Protection: protect.DiscardOnly})
	ops := writes(5)
	for i := range ops[:4] {
		ops[i].Timeout = time.Millisecond
	}
	c.request(ops...)
	c.expect(0, 5)
	if s := c.status(); s.Discarded != 4 || s.Writes != 2 || s.Sessions != 2 {
		t.Errorf("status: %+v", s)
	}
}

func TestNoDiscardWhileOff(t *testing.T) {
	t.Parallel()
	c := blocked(t, brickd.Config{Protection: protect.WindowOnly})
	ops := writes(2)
	for i := range ops {
		ops[i].Timeout = time.Millisecond
	}
	c.request(ops...)
	c.expect(0, 1, 2)
	if s := c.status(); s.Discarded != 0 || s.Writes != 3 {
		t.Errorf("status: %+v", s)
	}
}

// The switch holds for what waits already.
func TestDiscardSwitchedOnWhileTheyWait(t *testing.T) {
	t.Parallel()
	c := blocked(t, brickd.Config{Protection: protect.Off})
	ops := writes(3)
	ops[0].Timeout, ops[1].Timeout = time.Millisecond, time.Millisecond
	c.request(ops...)
	if h := c.order(wire.VerbProtection, protect.On); h.Stats.InboxLen != 3 {
		t.Errorf("heartbeat: %+v", h)
	}
	c.expect(0, 3)
}

// A brick that has found out that its queue stands answers at once what has waited long,
// and says nothing to those who have given up.
func TestBusy(t *testing.T) {
	t.Parallel()
	c := blocked(t, brickd.Config{Protection: protect.CoDelOnly})
	const second = 20 << 10 // another 200 ms; when it is begun, so is the first interval in which all have waited
	ops := append([]session.Request{write(1, 1, make([]byte, second))}, writes(5)[1:]...)
	ops[2].Timeout = time.Millisecond
	c.request(ops...)
	c.expect(0, 1)
	for _, id := range []uint64{5, 4, 2} { // the newest first
		if r := c.reply(); r.ID != id || r.Status != session.Busy || r.Value != nil {
			t.Fatalf("reply %+v, want %d to be refused", r, id)
		}
	}
	if s := c.status(); s.Discarded != 4 || s.Writes != 2 || s.Sessions != 2 || s.InboxLen != 0 {
		t.Errorf("status: %+v", s)
	}
}

// A reset empties the inbox, and what comes after it is not held up by what was before.
func TestReset(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, brickd.Config{Profile: emulated(time.Hour, 0)}).addr)
	const sent = 50
	c.request(writes(sent)...)
	c.until("queued", func(s session.BrickStats) bool { return s.InboxLen == sent-1 })
	for range 2 {
		if h := c.order(wire.VerbReset, protect.Off); h.Stats.InboxLen != 0 || h.Stats.InboxBytes != 0 {
			t.Errorf("answer to the reset: %+v", h)
		}
		if s := c.status(); s.InboxLen != 0 || s.InboxBytes != 0 || s.Dropped+s.Discarded != 0 {
			t.Errorf("status after the reset: %+v", s)
		}
	}
	c.request(write(sent+1, sent+1, nil)) // the processor is free for it
	c.until("served", func(s session.BrickStats) bool { return s.Writes == 2 && s.InboxLen == 0 })
}

// However late its timers are, an emulated processor serves everything, one after the
// other.
func TestEmulatedOrder(t *testing.T) {
	t.Parallel()
	const pairs = 200
	prof := emulated(500*time.Microsecond, time.Microsecond)
	prof.Processor.Jitter = 1
	prof.Network.OneWay = 2 * time.Millisecond
	b := start(t, brickd.Config{Profile: prof, Protection: protect.On, Seed: 1})
	clients := []*client{dial(t, b.addr), dial(t, b.addr)}
	for n, c := range clients {
		var ops []session.Request
		for i := range uint64(pairs) {
			w := write(2*i, session.Key(1000*uint64(n)+i), []byte{byte(i)})
			ops = append(ops, w, read(2*i+1, w))
		}
		c.request(ops...)
	}
	for _, c := range clients {
		for id := range uint64(2 * pairs) {
			c.expect(id)
		}
	}
	if s := clients[0].status(); s.Writes != 2*pairs || s.Reads != 2*pairs || s.InboxLen != 0 {
		t.Errorf("status: %+v", s)
	}
}
