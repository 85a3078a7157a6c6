package loadgen

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

func TestUserLearns(t *testing.T) {
	tests := []struct {
		op      session.Op
		outcome session.Outcome
		want    session.Op
	}{
		{session.Write, session.OK, session.Read},
		{session.Write, session.Timeout, session.Write},
		{session.Write, session.Rejected, session.Write},
		{session.Write, session.Refused, session.Write},
		{session.Write, session.Error, session.Write},
		{session.Read, session.OK, session.Write},
		{session.Read, session.Timeout, session.Write},
		{session.Read, session.Rejected, session.Read}, // again
		{session.Read, session.Refused, session.Write},
		{session.Read, session.Error, session.Write},
		{session.Read, session.Wrong, session.Write},
	}
	for _, tt := range tests {
		cookie := session.Cookie{Key: 5}
		u := user{holds: tt.op == session.Read, cookie: cookie}
		if u.next() != tt.op {
			t.Fatalf("a user that is to %v goes on with %v", tt.op, u.next())
		}
		u.learn(tt.op, tt.outcome, &session.Cookie{Key: 6})
		if u.next() != tt.want {
			t.Errorf("after a %v that is %v: %v, want %v", tt.op, tt.outcome, u.next(), tt.want)
		}
		// Only an acknowledged write replaces what is known to be acknowledged.
		want := session.Key(5)
		if tt.op == session.Write && tt.outcome == session.OK {
			want = 6
		}
		if u.cookie.Key != want {
			t.Errorf("after a %v that is %v: cookie %d, want %d", tt.op, tt.outcome, u.cookie.Key, want)
		}
	}
}

func TestPauses(t *testing.T) {
	tests := []struct {
		outcome     session.Outcome
		least, most time.Duration
	}{
		{session.OK, 13500 * time.Microsecond, 40500 * time.Microsecond},
		{session.Timeout, 33500 * time.Microsecond, 60500 * time.Microsecond},
		{session.Error, 33500 * time.Microsecond, 60500 * time.Microsecond},
		{session.Wrong, 33500 * time.Microsecond, 60500 * time.Microsecond},
		{session.Rejected, 10 * ms, 30 * ms},
		{session.Refused, 10 * ms, 30 * ms},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range tests {
		shortest, longest := time.Hour, time.Duration(0)
		for range 10_000 {
			p := pause(rng, &testUsers, tt.outcome)
			shortest, longest = min(shortest, p), max(longest, p)
		}
		if shortest < tt.least || longest > tt.most || shortest > tt.least+ms || longest < tt.most-ms {
			t.Errorf("%v: pauses of %v to %v, want %v to %v", tt.outcome, shortest, longest, tt.least, tt.most)
		}
		if p := pause(rng, &profile.Users{}, tt.outcome); p != 0 {
			t.Errorf("%v: a user without times of its own takes %v", tt.outcome, p)
		}
	}
}

// A user writes a fresh state, reads that very state back, and again.
func TestUserWritesAndReadsBack(t *testing.T) {
	w := newWorld(1, protect.On, nil)
	w.run(10 * second)
	if len(w.sent) < 4*100 {
		t.Fatalf("%d requests in 10 s", len(w.sent))
	}
	values := make(map[string]bool)
	for i, s := range w.sent[:400] {
		version := session.Version(i/4 + 1)
		if op := s.Op; (op == session.Read) != (i%4 == 3) || s.Version != version || s.Key != w.sent[0].Key {
			t.Fatalf("request %d: %v of version %d, want three writes and a read of version %d", i, op, s.Version, version)
		}
		if s.Op == session.Read {
			continue
		}
		if len(s.Value) != 100 || session.Sum(s.Key, s.Version, s.Expiry, s.Value) != s.Sum {
			t.Fatalf("request %d: a state of %d bytes whose checksum is another's", i, len(s.Value))
		}
		values[string(s.Value)] = true
	}
	if len(values) != 100 {
		t.Errorf("%d different states in 100 writes", len(values))
	}
	if all := w.sum(t); all.offered() != all.Count[session.OK] || all.offered() < 200 {
		t.Errorf("outcomes %v", all.Count)
	}
}

// Between an answer and the next request lies the user's own time.
func TestUserTakesItsTime(t *testing.T) {
	w := newWorld(1, protect.Off, nil)
	w.run(10 * second)
	for i := 4; i < len(w.sent); i++ {
		if w.sent[i].at == w.sent[i-1].at {
			continue // the next copy of a write
		}
		own := w.sent[i].at - w.sent[i-1].at - w.delay
		if own < 13500*time.Microsecond || own > 40500*time.Microsecond {
			t.Fatalf("request %d after %v of the user's own time", i, own)
		}
	}
}

// What the stub rejects has not happened: the user comes back with the same cookie.
func TestRejectedReadIsRepeated(t *testing.T) {
	w := newWorld(1, protect.Off, nil)
	for !w.m.users[0].holds {
		w.step(second)
	}
	held := w.m.users[0].cookie
	for _, id := range w.m.cfg.Stub.Bricks {
		w.m.Heard(w.now, id, protect.On)
	}
	// The windows are 1 now. One operation each to the bricks of the cookie, which are not
	// answered, takes their room for 60 ms. They are the audit's, which users know nothing of.
	w.m.audit.tries = make(map[int]int)
	for _, id := range held.Bricks() {
		c := oneBrick(held, id)
		w.m.stub.Begin(w.now, &stub.Attempt{Tag: auditTag, Op: session.Read, Cookie: &c})
	}
	w.sent = nil
	full := w.now + 60*ms
	w.run(full + second/10)
	if rejected := w.rec.open.Count[session.Rejected]; rejected < 1 {
		t.Fatalf("%d attempts were rejected", rejected)
	}
	first := w.sent[0]
	if first.at < full || first.Op != session.Read || first.Key != held.Key || first.Version != held.Version {
		t.Errorf("the first request with room again: %+v, want a read of %+v after %v", first, held, full)
	}
}

// oneBrick is the cookie of the same state on one brick alone.
func oneBrick(c session.Cookie, id session.BrickID) session.Cookie {
	one := session.Cookie{Key: c.Key, Version: c.Version, Expiry: c.Expiry, Sum: c.Sum}
	one.AddBrick(id)
	return one
}
