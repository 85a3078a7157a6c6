package brick

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// keySizes says that the state of key k has k KiB.
type keySizes struct{}

func (keySizes) Size(r *session.Request) int { return int(r.Key) << 10 }

// oracle is the queue once more: a slice and plain arithmetic.
type oracle struct {
	model   profile.Processor
	setting protect.Setting
	limit   int
	rng     *rand.Rand
	waiting []Op
	free    time.Duration // when the processor is
	codel   codelOracle
	want    session.BrickStats
	newest  int // served out of turn
	refused int
}

func (o *oracle) bytes() (sum int) {
	for _, op := range o.waiting {
		sum += len(op.Value) + OpOverhead
	}
	return sum
}

func (o *oracle) arrive(now time.Duration, op Op) bool {
	if len(o.waiting) > 0 && o.bytes()+len(op.Value)+OpOverhead > o.limit {
		o.want.Dropped++
		return false
	}
	op.arrived = now
	o.waiting = append(o.waiting, op)
	return true
}

func (o *oracle) cost(op Op) time.Duration {
	if o.model.Kind == profile.Native {
		return 0
	}
	mean, size := o.model.Put, len(op.Value)
	if op.Op == session.Read {
		mean, size = o.model.Get, int(op.Key)<<10
	}
	mean += time.Duration(float64(o.model.PerKiB) * float64(size) / 1024)
	return profile.Spread(o.rng, mean, o.model.Jitter)
}

func (o *oracle) next(now time.Duration) Step {
	if len(o.waiting) == 0 {
		return Step{Action: Idle, At: Never}
	}
	op := o.waiting[0]
	start := op.arrived
	if o.free > start {
		start = o.free
	}
	if o.model.Kind == profile.Native {
		start = now
	}
	if start > now {
		return Step{Action: Idle, At: start}
	}
	at, overloaded := o.pick(start)
	op = o.waiting[at]
	o.waiting = slices.Delete(o.waiting, at, at+1)
	cost := o.cost(op)
	waited := start - op.arrived
	dead := o.setting.Queue != protect.Keep && waited > op.Timeout
	if dead || overloaded && waited > 10*ms {
		o.want.Discarded++
		o.free = start + time.Duration(o.model.Discard*float64(cost))
		if dead {
			return Step{Action: Discard, Op: op}
		}
		o.refused++
		return Step{Action: Refuse, Op: op, At: o.free}
	}
	if op.Op == session.Write {
		o.want.Writes++
	} else {
		o.want.Reads++
	}
	o.free = start + cost
	return Step{Action: Serve, Op: op, At: o.free}
}

// codelOracle remembers every wait of the interval.
type codelOracle struct {
	began      time.Duration
	waits      []time.Duration
	overloaded bool
}

// pick looks at everything that waits.
func (o *oracle) pick(start time.Duration) (at int, overloaded bool) {
	if o.setting.Queue != protect.CoDel {
		return 0, false
	}
	c := &o.codel
	oldest := start - o.waiting[0].arrived
	c.waits = append(c.waits, oldest)
	if len(c.waits) == 1 || start-c.began >= 100*ms {
		c.overloaded = len(c.waits) > 1 && slices.Min(c.waits) > 5*ms
		c.began, c.waits = start, []time.Duration{oldest}
	}
	if !c.overloaded {
		return 0, false
	}
	for i, op := range o.waiting {
		if best := o.waiting[at]; op.arrived <= start && op.arrived+op.Timeout >= best.arrived+best.Timeout {
			at = i
		}
	}
	if at > 0 {
		o.newest++
	}
	return at, true
}

func (o *oracle) set(s protect.Setting) {
	if s.Queue != o.setting.Queue {
		o.codel = codelOracle{}
	}
	o.setting = s
}

func (o *oracle) stats() session.BrickStats {
	s := o.want
	s.InboxLen, s.InboxBytes = uint64(len(o.waiting)), uint64(o.bytes())
	return s
}

var testModel = profile.Processor{
	Kind: profile.Emulated, Put: 2 * time.Millisecond, Get: time.Millisecond, PerKiB: 100 * time.Microsecond,
	Jitter: 0.2, Discard: 0.4,
}

func drawModel(t *rapid.T) profile.Processor {
	models := []profile.Processor{testModel, {Kind: profile.Native}}
	for range 2 {
		m := testModel
		m.Jitter, m.Discard, m.PerKiB = 0, rapid.Float64Range(0, 1).Draw(t, "discard"), 0
		models = append(models, m)
	}
	return rapid.SampledFrom(models).Draw(t, "model")
}

// drawOp draws a read or a write of up to 8 KiB with a time-out of up to 60 ms.
func drawOp(t *rapid.T, from uint32) Op {
	op := Op{From: from, Request: session.Request{
		Op:      session.Op(rapid.IntRange(0, 1).Draw(t, "op")),
		Key:     session.Key(rapid.IntRange(0, 8).Draw(t, "key")),
		Timeout: time.Duration(rapid.IntRange(0, 60).Draw(t, "timeout")) * time.Millisecond,
	}}
	if op.Op == session.Write {
		op.Value = make([]byte, int(op.Key)<<10)
	}
	return op
}

// sameSteps compares what can differ: the operations are told apart by From.
func sameSteps(t *rapid.T, now time.Duration, want, got Step) {
	if got.Action != want.Action || got.At != want.At || got.Op.From != want.Op.From || got.Op.arrived != want.Op.arrived {
		t.Fatalf("step at %v: %+v, want %+v", now, got, want)
	}
}

func TestQueueAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := drawModel(t)
		limit := rapid.SampledFrom([]int{1, 20 << 10, 1 << 30}).Draw(t, "limit")
		seed := rapid.Uint64().Draw(t, "seed")
		q := NewQueue(model, protect.On, limit, keySizes{}, seed)
		o := &oracle{model: model, setting: protect.On, limit: limit, rng: rand.New(rand.NewPCG(seed, seed))}
		var now time.Duration
		var from uint32
		t.Repeat(map[string]func(*rapid.T){
			"arrive": func(t *rapid.T) {
				now += time.Duration(rapid.IntRange(0, 2000).Draw(t, "after µs")) * time.Microsecond
				from++
				op := drawOp(t, from)
				if got, want := q.Arrive(now, op), o.arrive(now, op); got != want {
					t.Fatalf("the inbox takes the operation: %v, want %v", got, want)
				}
			},
			"next": func(t *rapid.T) {
				now += time.Duration(rapid.IntRange(0, 20).Draw(t, "late ms")) * time.Millisecond
				for {
					got, want := q.Next(now), o.next(now)
					sameSteps(t, now, want, got)
					if got.Action == Idle {
						break
					}
				}
			},
			"one": func(t *rapid.T) {
				sameSteps(t, now, o.next(now), q.Next(now))
			},
			"set": func(t *rapid.T) {
				s := rapid.SampledFrom(protect.Settings()).Draw(t, "setting")
				q.Set(s)
				o.set(s)
			},
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
					return
				}
				var released []uint32
				q.Reset(func(op Op) { released = append(released, op.From) })
				if len(released) != len(o.waiting) {
					t.Fatalf("%d operations released, want %d", len(released), len(o.waiting))
				}
				for i, op := range o.waiting {
					if released[i] != op.From {
						t.Fatalf("released in place %d: operation %d, want %d", i, released[i], op.From)
					}
				}
				o.waiting, o.free, o.codel = nil, 0, codelOracle{}
			},
			"": func(t *rapid.T) {
				var got session.BrickStats
				q.Stats(&got)
				got.Share = 0 // has a test of its own, in protect
				if want := o.stats(); got != want {
					t.Fatalf("statistics %+v, want %+v", got, want)
				}
			},
		})
	})
}

// fate is what became of an operation, and when.
type fate struct {
	From   uint32
	Action Action
	Done   time.Duration
}

// run asks a queue at now, and from then on whenever it says, until some instant.
func run(q *Queue, now, until time.Duration) (fates []fate) {
	for now < until {
		s := q.Next(now)
		if s.Action == Idle {
			now = s.At
			continue
		}
		fates = append(fates, fate{s.Op.From, s.Action, s.At})
	}
	return fates
}

// drain asks for everything that the inbox holds.
func drain(q *Queue) []fate { return run(q, Never-1, Never) }

// Capacity does not depend on when Next is called: what is served, what is discarded and
// every finishing time are those of a queue that is asked at the exact instants.
func TestLateNextCostsNoCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := testModel
		model.Jitter = rapid.Float64Range(0, 1).Draw(t, "jitter")
		setting := rapid.SampledFrom([]protect.Setting{protect.Off, protect.On, protect.WindowCoDel}).Draw(t, "setting")
		exact := NewQueue(model, setting, 1<<30, keySizes{}, 7)
		late := NewQueue(model, setting, 1<<30, keySizes{}, 7)
		var want, got []fate
		var now time.Duration
		arrivals := rapid.IntRange(1, 200).Draw(t, "arrivals")
		for i := range arrivals {
			op := drawOp(t, uint32(i))
			exact.Arrive(now, op)
			late.Arrive(now, op)
			if rapid.Bool().Draw(t, "asked") {
				got = append(got, run(late, now, now+1)...)
			}
			next := now + time.Duration(rapid.IntRange(0, 4000).Draw(t, "after µs"))*time.Microsecond
			want = append(want, run(exact, now, next)...)
			now = next
		}
		want, got = append(want, drain(exact)...), append(got, drain(late)...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("asked late (-exact +late):\n%s", diff)
		}
		if len(got) != arrivals {
			t.Fatalf("%d of %d operations came out", len(got), arrivals)
		}
	})
}
