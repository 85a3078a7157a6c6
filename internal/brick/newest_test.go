package brick

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// The inbox in both of its orders at once, against a slice.
func TestInboxAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in inbox
		var waiting []Op
		var now time.Duration
		var from uint32
		take := func(t *rapid.T, at, want int) {
			got := in.take(at)
			if got.From != waiting[want].From || got.rank != 0 {
				t.Fatalf("operation %+v, want %d", got, waiting[want].From)
			}
			waiting = slices.Delete(waiting, want, want+1)
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "operations") {
					now += time.Duration(rapid.IntRange(0, 2).Draw(t, "after"))
					from++
					op := Op{From: from, arrived: now, Request: session.Request{
						Timeout: time.Duration(rapid.IntRange(0, 5).Draw(t, "timeout")),
					}}
					in.push(op)
					waiting = append(waiting, op)
				}
			},
			"oldest": func(t *rapid.T) {
				if len(waiting) > 0 {
					take(t, in.head, 0)
				}
			},
			"newest": func(t *rapid.T) {
				for range rapid.IntRange(0, min(40, len(waiting))).Draw(t, "operations") {
					// Nothing has arrived out of order, so what had arrived by then is a head of the slice.
					then := max(waiting[0].arrived, now-time.Duration(rapid.IntRange(0, 5).Draw(t, "ago")))
					want := 0
					for i, op := range waiting {
						if best := waiting[want]; op.arrived <= then && op.arrived+op.Timeout >= best.arrived+best.Timeout {
							want = i
						}
					}
					if in.ordered(then) { // else more than that is in order already, as after no decision of a queue
						take(t, in.newest(then), want)
					}
				}
			},
			"": func(t *rapid.T) {
				if bytes := len(waiting) * OpOverhead; in.count != len(waiting) || in.bytes != bytes {
					t.Fatalf("%d operations of %d bytes, want %d of %d", in.count, in.bytes, len(waiting), bytes)
				}
			},
		})
	})
}

// ordered reports whether nothing that arrived after then is in order.
func (b *inbox) ordered(then time.Duration) bool {
	return !slices.ContainsFunc(b.order, func(at int32) bool { return b.ring[at].arrived > then })
}

// A brick that is overloaded for a while, at several times what it can do, is the oracle's
// all the way into the overload and out of it.
func TestCoDelAgainstOracle(t *testing.T) {
	const seed = 11
	q := NewQueue(testModel, protect.CoDelOnly, 0, keySizes{}, seed)
	o := &oracle{model: testModel, setting: protect.CoDelOnly, limit: DefaultInboxBytes, rng: rand.New(rand.NewPCG(seed, seed))}
	rng := rand.New(rand.NewPCG(1, 2))
	var now time.Duration
	var from uint32
	for _, phase := range []struct {
		gap     time.Duration // between arrivals; an operation takes some 1.5 ms
		length  time.Duration
		refuses bool // in its last second
		newest  bool
	}{
		{4 * ms, 2 * time.Second, false, false},
		{1400 * time.Microsecond, 3 * time.Second, true, true},
		{300 * time.Microsecond, 1500 * ms, false, true}, // there is always something fresh to do
		{20 * ms, 6 * time.Second, false, false},         // cleared away
		{1300 * time.Microsecond, 3 * time.Second, true, true},
		{5 * ms, 6 * time.Second, false, false},
	} {
		for end := now + phase.length; now < end; {
			if now < end-time.Second {
				o.refused, o.newest = 0, 0
			}
			from++
			op := Op{From: from, Request: session.Request{
				Op: session.Op(rng.IntN(2)), Timeout: []time.Duration{60 * ms, 60 * ms, 60 * ms, 45 * ms, 8 * ms}[rng.IntN(5)],
			}}
			if q.Arrive(now, op) != o.arrive(now, op) {
				t.Fatalf("operation %d is not taken by both", from)
			}
			now += time.Duration(rng.Int64N(int64(2 * phase.gap)))
			for late := rng.IntN(4) == 0; !late; { // then out of more than had come when it was due
				got, want := q.Next(now), o.next(now)
				if got.Action != want.Action || got.At != want.At || got.Op.From != want.Op.From {
					t.Fatalf("step at %v: %+v, want %+v", now, got, want)
				}
				if got.Action == Idle {
					break
				}
			}
		}
		if (o.refused > 0) != phase.refuses || (o.newest > 0) != phase.newest {
			t.Errorf("an arrival each %v: %d refused, %d served out of turn", phase.gap, o.refused, o.newest)
		}
	}
	var got session.BrickStats
	q.Stats(&got)
	if got.Share = 0; got != o.stats() { // the share is tested in protect
		t.Errorf("statistics %+v, want %+v", got, o.stats())
	}
}

// Readers on several cores may stamp arrivals a little out of order: then something comes
// out all the same.
func TestNewestOfNone(t *testing.T) {
	var in inbox
	in.push(Op{arrived: 2})
	if at := in.newest(1); at != in.head {
		t.Errorf("place %d, want that of the oldest, %d", at, in.head)
	}
}

// overload makes a queue's rule see a queue that stands, up to now.
func overload(q *Queue, now time.Duration) {
	for before := 120 * ms; before >= 0; before -= 20 * ms {
		q.rule.Pick(now-before, 9*ms)
	}
}

// A read that falls back to another brick ranks by when its stub began, not by its arrival.
func TestNewestGoesByStart(t *testing.T) {
	model := exact
	model.Get = 2 * ms
	q := NewQueue(model, protect.CoDelOnly, 0, nil, 1)
	now := time.Second
	overload(q, now)
	q.Arrive(now-2*ms, read(1, 60*ms))
	q.Arrive(now-ms, read(2, 60*ms))
	q.Arrive(now, read(3, 20*ms)) // of its 60 ms, 40 have passed elsewhere
	q.Arrive(now+ms, read(4, 60*ms))
	want := []fate{{1, Serve, now}, {2, Serve, now + 2*ms}, {4, Serve, now + 4*ms}, {3, Serve, now + 6*ms}}
	if got := drain(q); !slices.Equal(got, want) {
		t.Errorf("fates %+v, want %+v", got, want)
	}
}

// What has waited too long is refused at the price of a discard, and what is dead dropped.
func TestCoDelRefuses(t *testing.T) {
	q := NewQueue(exact, protect.CoDelOnly, 0, nil, 1)
	now := time.Second
	overload(q, now)
	q.Arrive(now-11*ms, write(1, 0, 60*ms))
	q.Arrive(now-11*ms, write(2, 0, 5*ms))
	q.Arrive(now-10*ms, write(3, 0, 60*ms))
	q.busyTill = now
	want := []fate{{3, Serve, now + 10*ms}, {1, Refuse, now + 14*ms}, {2, Discard, 0}}
	if got := drain(q); !slices.Equal(got, want) {
		t.Errorf("fates %+v, want %+v", got, want)
	}
	var s session.BrickStats
	if q.Stats(&s); s.Discarded != 2 || s.Writes != 1 || q.busyTill != now+18*ms {
		t.Errorf("statistics %+v, busy till %v", s, q.busyTill)
	}
}

// A reset forgets the overload with the queue; a change of the window alone does not.
func TestRuleStartsAnew(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Queue)
		want   Action
	}{
		{"nothing", func(*Queue) {}, Refuse},
		{"the window", func(q *Queue) { q.Set(protect.WindowCoDel) }, Refuse},
		{"the rule and back", func(q *Queue) { q.Set(protect.On); q.Set(protect.CoDelOnly) }, Serve},
		{"a reset", func(q *Queue) { q.Reset(func(Op) {}) }, Serve},
	} {
		q := NewQueue(exact, protect.CoDelOnly, 0, nil, 1)
		now := time.Second
		overload(q, now)
		tt.change(q)
		q.busyTill = now
		q.Arrive(now-20*ms, read(1, 60*ms))
		if s := q.Next(now); s.Action != tt.want {
			t.Errorf("after %s: %+v, want action %d", tt.name, s, tt.want)
		}
	}
}

func TestCoDelAllocatesNothing(t *testing.T) {
	q := NewQueue(testModel, protect.CoDelOnly, 0, keySizes{}, 1)
	op := write(1, 8<<10, 60*ms)
	var now time.Duration
	exhaust := func() {
		for idle := false; !idle; {
			idle = q.Next(now).Action == Idle
		}
	}
	cycle := func() { // half a second of three operations in the time of two, and time to clear away the rest
		for range 100 {
			now += 5600 * time.Microsecond
			for range 3 {
				q.Arrive(now, op)
			}
			exhaust()
		}
		now += 200 * ms
		exhaust()
	}
	for range 10 {
		cycle()
	}
	before := q.counts.discarded
	if n := testing.AllocsPerRun(20, cycle); n > 0 {
		t.Errorf("300 operations through an overloaded queue allocate %v times", n)
	}
	if q.counts.discarded < before+100 {
		t.Errorf("%d refused: the queue is not overloaded", q.counts.discarded-before)
	}
}
