package brickd_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, brickd.Config{Profile: native()}).addr)
	for i, size := range []int{0, 1, 100, 8 << 10, 1 << 20, 1<<20 + 1} {
		c.roundTrip(session.Key(i), bytes.Repeat([]byte{byte(i + 1)}, size))
	}
	if s := c.status(); s.Writes != 6 || s.Reads != 6 || s.Sessions != 6 || s.Connected != 1 || s.Uptime <= 0 {
		t.Errorf("status: %+v", s)
	}
}

// What was written over one connection is read over another, and stays when the first
// has gone.
func TestStateOutlivesConnection(t *testing.T) {
	t.Parallel()
	b := start(t, brickd.Config{Profile: native()})
	writer, reader := dial(t, b.addr), dial(t, b.addr)
	w := write(1, 5, []byte("state"))
	writer.request(w)
	writer.reply()
	writer.conn.Close()
	reader.until("one connection less", func(s session.BrickStats) bool { return s.Connected == 1 })
	reader.request(read(2, w))
	if r := reader.reply(); string(r.Value) != "state" {
		t.Errorf("reply: %+v", r)
	}
}

func TestNoes(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, brickd.Config{Profile: native()}).addr)
	bad := write(1, 5, []byte("state"))
	bad.Sum++
	c.request(read(0, bad), bad, read(2, bad))
	for id, want := range []session.Status{session.NotFound, session.Done, session.Corrupt} {
		if r := c.reply(); r.ID != uint64(id) || r.Status != want || r.Value != nil {
			t.Errorf("reply %+v, want %d: %s", r, id, want)
		}
	}
	if s := c.status(); s.Corrupt != 1 {
		t.Errorf("status: %+v", s)
	}
}

func TestStateElapses(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, brickd.Config{Profile: native()}).addr)
	w := write(1, 5, []byte("state"))
	w.TTL = time.Millisecond
	c.request(w)
	c.reply()
	c.until("elapsed", func(s session.BrickStats) bool { return s.Elapsed == 1 && s.Sessions == 0 && s.Bytes == 0 })
	c.request(read(2, w))
	if r := c.reply(); r.Status != session.NotFound {
		t.Errorf("reply: %+v", r)
	}
}

func TestMemoryBound(t *testing.T) {
	t.Parallel()
	const limit = 128 << 10
	c := dial(t, start(t, brickd.Config{Profile: native(), Memory: limit}).addr)
	var kept []session.Request
	for i := range 100 {
		w := write(uint64(i), session.Key(i), make([]byte, 8<<10))
		c.request(w)
		switch r := c.reply(); {
		case r.Status == session.Done:
			kept = append(kept, w)
		case r.Status != session.Full:
			t.Fatalf("write %d: %+v", i, r)
		}
	}
	s := c.status()
	if len(kept) == 0 || s.Full != uint64(100-len(kept)) || s.Sessions != uint64(len(kept)) || s.Bytes > limit {
		t.Errorf("%d kept, status: %+v", len(kept), s)
	}
	for i, w := range kept {
		c.request(read(uint64(i), w))
		if r := c.reply(); r.Status != session.Done || len(r.Value) != len(w.Value) {
			t.Errorf("read %d: status %s, %d bytes", i, r.Status, len(r.Value))
		}
	}
}

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	b := start(t, brickd.Config{Profile: native(), Protection: protect.DiscardOnly})
	c := connect(t, b.addr)
	c.send(wire.AppendHello(nil))
	var last time.Duration
	for range 3 {
		h := c.heartbeat(func(wire.Heartbeat) bool { return true })
		if h.Brick != 1 || h.Seq != 0 || h.Setting != protect.DiscardOnly || h.Stats.Uptime <= last {
			t.Errorf("heartbeat: %+v", h)
		}
		last = h.Stats.Uptime
	}
}

// Every connection is told of every switch. The heartbeats of every second could not
// show that many in so short a time.
func TestProtectionReachesEveryConnection(t *testing.T) {
	t.Parallel()
	const switches = 100
	b := start(t, brickd.Config{Profile: native(), Protection: protect.Off})
	var others []*client
	for range 4 {
		others = append(others, dial(t, b.addr))
	}
	commander := dial(t, b.addr)
	settings := protect.Settings()
	for i := range switches {
		want := settings[i%len(settings)]
		if h := commander.order(wire.VerbProtection, want); h.Setting != want {
			t.Fatalf("switch %d: %s, want %s", i, h.Setting, want)
		}
	}
	for _, c := range others {
		for i := range switches {
			want := settings[i%len(settings)]
			c.heartbeat(func(h wire.Heartbeat) bool { return h.Setting == want })
		}
	}
}

// A peer that asks and does not read has its replies wait for it, and others theirs not
// behind them.
func TestDeafPeer(t *testing.T) {
	t.Parallel()
	b := start(t, brickd.Config{Profile: native()})
	c, deaf := dial(t, b.addr), dial(t, b.addr)
	w := write(1, 5, make([]byte, 1<<20))
	c.request(w)
	c.reply()
	const asked = 32 // MiB, more than sockets hold
	for i := range asked {
		deaf.request(read(uint64(i), w))
	}
	for i := range 100 {
		c.roundTrip(session.Key(100+i), []byte("state"))
	}
	c.until("all served", func(s session.BrickStats) bool { return s.Reads == asked+100 && s.InboxLen == 0 })
	for i := range asked {
		if r := deaf.reply(); r.ID != uint64(i) || len(r.Value) != len(w.Value) {
			t.Fatalf("reply %d after all: id %d, %d bytes", i, r.ID, len(r.Value))
		}
	}
}
