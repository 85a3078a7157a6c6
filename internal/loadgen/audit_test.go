package loadgen

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// acks counts the writes that users were told are kept.
type acks struct{ writes uint64 }

func (*acks) Began(time.Duration, int, stub.Attempt) {}

func (a *acks) Ended(_ time.Duration, _ int, d *stub.Completion) {
	if d.Op == session.Write && d.Outcome == session.OK {
		a.writes++
	}
}

// loaded runs 12 users for some time and stops them; writes is how many writes were acknowledged.
func loaded(t *testing.T, load time.Duration) (w *world, writes uint64) {
	t.Helper()
	told := &acks{}
	w = newWorld(12, protect.On, func(cfg *MachineConfig) { cfg.Watch = told })
	w.run(load)
	w.stop(t)
	w.sent = nil
	return w, told.writes
}

// readBack audits, with so many reads under way at most.
func (w *world) readBack(t *testing.T, room int) Audit {
	t.Helper()
	offered := w.sum(t)
	w.m.BeginAudit(w.now)
	turns := NewAuditTurns(1, room)
	state := func(int) (int, bool) { return w.m.Auditing() }
	for steps := 0; turns.Step(state, func(int) bool { return w.m.StepAudit(w.now) }); steps++ {
		if asking, _ := w.m.Auditing(); asking > room {
			t.Fatalf("%d reads are under way, want at most %d", asking, room)
		}
		if !w.step(w.now + ms) {
			w.now += ms
		}
		if steps > 100_000 {
			t.Fatal("the audit does not end")
		}
	}
	if after := w.sum(t); after.offered() > 0 {
		t.Errorf("the audit is counted as load: %v, after %v", after.Count, offered.Count)
	}
	return w.m.Audit()
}

// each visits every state on every brick.
func (w *world) each(visit func(states map[stateName][]byte, name stateName)) {
	for _, states := range w.states {
		for name := range states {
			visit(states, name)
		}
	}
}

// change replaces every state on every brick.
func (w *world) change(how func(value []byte)) {
	w.each(func(states map[stateName][]byte, name stateName) {
		states[name] = bytes.Clone(states[name])
		how(states[name])
	})
}

func (w *world) bricks(visit func(session.BrickID)) {
	for _, id := range w.m.cfg.Stub.Bricks {
		visit(id)
	}
}

func TestAudit(t *testing.T) {
	forget := func(w *world) {
		w.each(func(states map[stateName][]byte, name stateName) { delete(states, name) })
	}
	for _, tt := range []struct {
		name    string
		happens func(*world)
		want    func(n uint64) result.Audit // of so many writes
		sent    uint64                      // reads for each write; 0 is any
	}{
		{"nothing", func(*world) {}, func(n uint64) result.Audit { return result.Audit{Writes: n, Found: n} }, 1},
		{"every brick has lost everything", forget, func(n uint64) result.Audit { return result.Audit{Writes: n, Lost: n} }, 2},
		{"every brick has died", func(w *world) {
			forget(w)
			w.bricks(func(id session.BrickID) { w.m.Down(w.now, id) })
			w.bricks(func(id session.BrickID) { w.m.Up(w.now, id, protect.On) })
		}, func(n uint64) result.Audit { return result.Audit{Writes: n, Lost: n, Allowed: n} }, 2},
		{"one brick has lost everything", func(w *world) { clear(w.states[2]) }, func(n uint64) result.Audit {
			return result.Audit{Writes: n, Found: n}
		}, 0},
		{"one write is lost", func(w *world) {
			last := w.m.users[4].cookie
			w.each(func(states map[stateName][]byte, name stateName) {
				if name.key == last.Key && name.version == last.Version {
					delete(states, name)
				}
			})
		}, func(n uint64) result.Audit { return result.Audit{Writes: n, Found: n - 1, Lost: 1} }, 0},
		{
			"a bit has flipped everywhere", func(w *world) { w.change(func(v []byte) { v[50] ^= 1 }) },
			func(n uint64) result.Audit { return result.Audit{Writes: n, Corrupt: n} }, 2,
		},
		{
			"the bricks find it themselves", func(w *world) { w.corrupt = true },
			func(n uint64) result.Audit { return result.Audit{Writes: n, Corrupt: n} }, 2,
		},
		{
			"another version of everything", func(w *world) { w.change(func(v []byte) { binary.LittleEndian.PutUint64(v[8:], 77_777) }) },
			func(n uint64) result.Audit { return result.Audit{Writes: n, Stale: n} }, 2,
		},
		{
			"another's state", func(w *world) { w.change(func(v []byte) { v[3] ^= 1 }) },
			func(n uint64) result.Audit { return result.Audit{Writes: n, Corrupt: n} }, 2,
		},
		{"no answer", func(w *world) { w.silent = true }, func(n uint64) result.Audit { return result.Audit{Writes: n, Unknown: n} }, auditTries},
		{
			"no brick", func(w *world) { w.bricks(func(id session.BrickID) { w.m.Down(w.now, id) }) },
			func(n uint64) result.Audit { return result.Audit{Writes: n, Unknown: n} }, 0,
		},
		{"all have expired", func(w *world) { w.now += 3 * time.Minute }, func(uint64) result.Audit { return result.Audit{} }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, n := loaded(t, 5*second)
			tt.happens(w)
			got := w.readBack(t, 20)
			if diff := cmp.Diff(Audit{Audit: tt.want(n)}, got); diff != "" || n < 500 {
				t.Errorf("audit of %d writes (-want +got):\n%s", n, diff)
			}
			if sent := uint64(len(w.sent)); tt.sent > 0 && sent != n*tt.sent {
				t.Errorf("%d reads for %d writes, want %d each", sent, n, tt.sent)
			}
		})
	}
}

// What has expired when the audit begins is none of its business; what does before it is asked
// for or answered has expired, whatever the answer.
func TestAuditExpired(t *testing.T) {
	w, n := loaded(t, second)
	all := w.m.audit.memory.all
	for i := range all {
		switch i % 4 {
		case 0:
			all[i].cookie.Expiry = session.Expiry((w.now + 30*ms) / second) // when the audit begins it has
		case 1, 2:
			all[i].cookie.Expiry = session.Expiry((w.now + second) / second) // in 50 ms
		}
	}
	w.now = (w.now + second).Truncate(second) - 50*ms
	w.each(func(states map[stateName][]byte, name stateName) { delete(states, name) })
	got := w.readBack(t, 1)
	gone, passing := (n+3)/4, (n+2)/4+(n+1)/4
	if got.Writes != n-gone || got.Lost+got.Expired != got.Writes || got.Expired == 0 || got.Expired >= passing {
		t.Errorf("audit %+v of %d writes, %d of which had expired and %d did so within 50 ms", got, n, gone, passing)
	}
	// One at a time, two questions of 2 ms each, and the turns between: some 10 before 50 ms are over.
	if early := passing - got.Expired; early < 6 || early > 12 {
		t.Errorf("%d were found to be lost before they expired", early)
	}
}

// An answer after some tries is an answer. They are a time-out apart, and more.
func TestAuditAsksAgain(t *testing.T) {
	w, _ := loaded(t, second)
	w.m.audit.memory.all = w.m.audit.memory.all[:1]
	w.m.BeginAudit(w.now)
	for w.silent = true; ; w.now += ms {
		if _, more := w.m.Auditing(); !more {
			break
		}
		w.silent = len(w.sent) < auditTries-1 // only the last is answered
		w.m.StepAudit(w.now)
		for w.step(w.now) {
		}
	}
	if got := w.m.Audit(); got.Audit != (result.Audit{Writes: 1, Found: 1}) || len(w.sent) != auditTries {
		t.Errorf("audit %+v after %d reads", got, len(w.sent))
	}
	for i := 1; i < len(w.sent); i++ {
		if gap := w.sent[i].at - w.sent[i-1].at; gap < 2*60*ms || gap > 3*60*ms {
			t.Errorf("asked again after %v", gap)
		}
	}
}

// goneWhileLoaded lets users come back for states that are no more, and returns what was told of it
// and how many writes are remembered.
func goneWhileLoaded(t *testing.T, corrupt bool) (w *world, told Audit, kept uint64) {
	t.Helper()
	w, _ = loaded(t, second)
	m := &w.m.audit.memory
	kept = uint64(len(m.all) - m.head)
	w.m.stopped = false // again
	w.corrupt = corrupt
	if !corrupt {
		w.each(func(states map[stateName][]byte, name stateName) { delete(states, name) })
	}
	w.run(w.now + 20*ms) // less than a user takes between a write and its read
	w.stop(t)
	w.corrupt, w.sent = false, nil
	return w, w.m.Audit(), kept
}

// What a user has found to be lost while the load ran is counted once, and with the record.
func TestAuditIsToldOfLoss(t *testing.T) {
	w, told, kept := goneWhileLoaded(t, false)
	if found := w.sum(t).Lost; found == 0 || told.Lost != found || told.Told != found || told.Allowed != 0 {
		t.Errorf("told %+v, %d lost on record", told, found)
	}
	got := w.readBack(t, 20)
	if got.Lost < kept || got.Lost+got.Found != got.Writes || got.Told != told.Told {
		t.Errorf("audit %+v of %d writes that are gone, and some later ones", got, kept)
	}
}

// So is what a user has found corrupt. It is not asked for again.
func TestAuditIsToldOfDamage(t *testing.T) {
	w, told, kept := goneWhileLoaded(t, true)
	if found := w.sum(t).Lost; told.Corrupt == 0 || told.Writes != told.Corrupt || found != 0 {
		t.Errorf("told %+v, %d lost on record", told, found)
	}
	got := w.readBack(t, 20)
	if got.Corrupt != told.Corrupt || got.Found+got.Corrupt != got.Writes || got.Writes < kept {
		t.Errorf("audit %+v of at least %d writes", got, kept)
	}
	if uint64(len(w.sent)) != got.Found {
		t.Errorf("%d reads for %d states that nobody had found gone", len(w.sent), got.Found)
	}
}

// What there was no time to ask for, and what did not fit, is not read, and is said so.
func TestAuditUnread(t *testing.T) {
	w, n := loaded(t, second)
	w.m.audit.memory.limit = 100
	w.m.BeginAudit(w.now)
	for range 10 {
		w.m.StepAudit(w.now)
	}
	if got := w.m.Audit(); got.Writes != n || got.Unread != n {
		t.Errorf("audit %+v with ten reads of %d under way", got, n)
	}

	told := &acks{}
	w = newWorld(12, protect.On, func(cfg *MachineConfig) { cfg.Watch = told })
	w.m.audit.memory.limit = 100
	w.run(2 * second)
	w.stop(t)
	want := result.Audit{Writes: told.writes, Found: 100, Unread: told.writes - 100}
	if got := w.readBack(t, 20); got.Audit != want {
		t.Errorf("audit %+v, want %+v", got, want)
	}
}

func TestAuditAdd(t *testing.T) {
	sum := Audit{result.Audit{Writes: 1, Found: 2, Expired: 3, Lost: 4, Stale: 5, Corrupt: 6, Unknown: 7, Unread: 8, Allowed: 9}, 10}
	sum.Add(sum)
	if want := (Audit{result.Audit{Writes: 2, Found: 4, Expired: 6, Lost: 8, Stale: 10, Corrupt: 12, Unknown: 14, Unread: 16, Allowed: 18}, 20}); sum != want {
		t.Errorf("sum %+v, want %+v", sum, want)
	}
}
