package loadgen

import (
	"bytes"
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// stateName is all that a state is found by.
type stateName struct {
	key     session.Key
	version session.Version
	expiry  session.Expiry
}

// world is a machine under virtual time, and the dumbest bricks that could serve it: a
// map each, which answer everything after the same delay.
type world struct {
	m      *Machine
	rec    *Recorder
	now    time.Duration
	delay  time.Duration // from a request to its reply
	states map[session.BrickID]map[stateName][]byte
	silent bool // the bricks take requests and never answer
	// The bricks find each copy that they are asked for damaged.
	corrupt bool
	coming  []delivery
	sent    []sending
}

type delivery struct {
	at    time.Duration
	from  session.BrickID
	reply session.Reply
}

// sending is a request that was seen on the wire.
type sending struct {
	at time.Duration
	to session.BrickID
	session.Request
}

// users of the published testbed.
var testUsers = profile.Users{
	Own: 27 * ms, OwnJitter: 0.5, Pause: 20 * ms, Turn: 20 * ms, TurnJitter: 0.5, Expiry: 2 * time.Minute,
}

// newWorld makes a machine of so many users with four bricks that are up. It has no
// warm-up and an hour to measure.
func newWorld(threads int, s protect.Setting, change func(*MachineConfig)) *world {
	w := &world{delay: 2 * ms, states: make(map[session.BrickID]map[stateName][]byte)}
	cfg := MachineConfig{
		ID: 3, Threads: threads, Size: 100, Users: testUsers, Seed: 7, Nonce: 9,
		Stub: stub.Config{
			Quorum: session.Quorum{W: 3, WQ: 2, R: 1}, Timeout: 60 * ms, TTL: testUsers.Expiry,
			Policy: protect.Policies()[0], Bricks: []session.BrickID{1, 2, 3, 4},
		},
	}
	if change != nil {
		change(&cfg)
	}
	w.rec = NewRecorder(0, 3600, cfg.ID, 1)
	w.m = NewMachine(cfg, w, w.rec)
	for _, id := range cfg.Stub.Bricks {
		w.states[id] = make(map[stateName][]byte)
		w.m.Up(0, id, s)
	}
	w.rec.Start(0)
	w.m.Start(0)
	return w
}

// Send implements Outlet. What is lent is copied.
func (w *world) Send(to session.BrickID, r *session.Request) {
	request := *r
	request.Value = bytes.Clone(r.Value)
	w.sent = append(w.sent, sending{w.now, to, request})
	if w.silent {
		return
	}
	reply := session.Reply{ID: r.ID}
	name := stateName{r.Key, r.Version, r.Expiry}
	if r.Op == session.Write {
		w.states[to][name] = request.Value
	} else if _, held := w.states[to][name]; held && w.corrupt {
		reply.Status = session.Corrupt
	} else if value, held := w.states[to][name]; held {
		reply.Value = value
	} else {
		reply.Status = session.NotFound
	}
	w.coming = append(w.coming, delivery{w.now + w.delay, to, reply})
	slices.SortStableFunc(w.coming, func(a, b delivery) int { return cmp.Compare(a.at, b.at) })
}

// run lets time pass until some instant, or until nothing more can happen.
func (w *world) run(until time.Duration) {
	for w.step(until) {
	}
	w.now = until
}

// step goes on to the next instant at which something happens, up to until.
func (w *world) step(until time.Duration) bool {
	next := w.m.Step(w.now)
	if len(w.coming) > 0 && (next == 0 || w.coming[0].at < next) {
		next = w.coming[0].at
	}
	if next == 0 || next > until {
		return false
	}
	w.now = max(w.now, next)
	for len(w.coming) > 0 && w.coming[0].at <= w.now {
		d := w.coming[0]
		w.coming = w.coming[1:]
		w.m.Reply(w.now, d.from, &d.reply)
	}
	return true
}

// stop ends the load and lets what is in flight end.
func (w *world) stop(t *testing.T) {
	t.Helper()
	w.m.Stop()
	w.run(w.now + second)
	if !w.m.Idle() {
		t.Fatal("something is in flight a second after the end")
	}
}

// sum adds up the seconds that have ended.
func (w *world) sum(t *testing.T) Interval {
	t.Helper()
	intervals, err := w.rec.Cut(w.now)
	if err != nil {
		t.Fatal(err)
	}
	var all Interval
	for _, i := range intervals {
		for o, n := range i.Count {
			all.Count[o] += n
		}
		all.Late += i.Late
		all.Lost += i.Lost
		all.Busy += i.Busy
		all.Rest += i.Rest
		all.Protection = i.Protection
	}
	return all
}

func (i *Interval) offered() (n uint64) {
	for _, c := range i.Count {
		n += c
	}
	return n
}
