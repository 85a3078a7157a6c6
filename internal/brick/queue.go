package brick

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// DefaultInboxBytes bounds an inbox unless set: enough for 17 seconds of work at
// the published size and pace, far past any time-out, and harmless to a machine that runs eight bricks.
const DefaultInboxBytes = 64 << 20

// Never is an instant that does not come.
const Never = time.Duration(math.MaxInt64)

// Action is what a brick does next.
type Action uint8

// The actions.
const (
	Idle    Action = iota // nothing until Step.At, or until an arrival
	Serve                 // apply Step.Op; its reply leaves at Step.At
	Discard               // Step.Op was dead: let it go without a reply
	Refuse                // answer Step.Op with Busy at Step.At: the brick is overloaded
)

// Step is one decision of the processing loop.
type Step struct {
	Action Action
	Op     Op            // all but Idle
	At     time.Duration // Idle: when to ask again, Never without work; Serve and Refuse: when the processor is done
	Mute   bool          // the reply is not to be sent: see Defect
}

// Queue is the inbox and the processor behind it: a single server. The processor
// works in virtual finishing times: an operation starts at its arrival or when the one
// before it is done, whichever is later, however late Next is called. A late timer
// therefore delays a reply, but costs no capacity.
//
// The rule of its setting chooses which operation is next, and may not have it served. It
// chooses among those that had arrived when the processor became free, however late it is asked.
//
// It is not safe for concurrent use.
type Queue struct {
	in       inbox
	model    profile.Processor
	setting  protect.Setting
	rule     protect.Discipline // of the setting, at work
	limit    int
	rng      *rand.Rand
	sizes    Sizer
	busyTill time.Duration
	share    protect.FairShare
	flaw     flaw
	counts   queueCounts
}

type queueCounts struct{ writes, reads, discarded, dropped uint64 }

// Sizer tells how large the state is that a read asks for, in bytes; 0 if there is none. It is
// asked only where bytes cost time.
type Sizer interface {
	Size(r *session.Request) int
}

// NewQueue returns an empty queue. Zero inboxBytes means DefaultInboxBytes. The
// seed feeds the jitter of costs alone.
func NewQueue(model profile.Processor, setting protect.Setting, inboxBytes int, sizes Sizer, seed uint64) *Queue {
	if inboxBytes == 0 {
		inboxBytes = DefaultInboxBytes
	}
	return &Queue{
		model: model, setting: setting, rule: setting.Queue.New(), limit: inboxBytes, sizes: sizes,
		rng: rand.New(rand.NewPCG(seed, seed)), flaw: flaw{seed: seed},
	}
}

// Share returns the operations in flight that the brick offers each of its stubs.
func (q *Queue) Share() float64 { return q.share.Ops() }

// Stubs tells how many stubs are connected.
func (q *Queue) Stubs(n int) { q.share.Stubs(n) }

// Setting returns the protection in force.
func (q *Queue) Setting() protect.Setting { return q.setting }

// Set changes the protection; it holds from the next operation on.
func (q *Queue) Set(s protect.Setting) {
	if s.Queue != q.setting.Queue {
		q.rule = s.Queue.New()
	}
	q.setting = s
}

// Arrive puts an operation at the end of the inbox. It reports false when the
// inbox is full: the operation is dropped and counted, and its value stays the caller's. An
// empty inbox takes any one operation, whatever its size.
func (q *Queue) Arrive(now time.Duration, op Op) bool {
	if q.in.count > 0 && q.in.bytes+op.weight() > q.limit {
		q.counts.dropped++
		return false
	}
	op.arrived = now
	q.in.push(op)
	return true
}

// Next takes the next operation out of the inbox, if the processor is free for it by now.
func (q *Queue) Next(now time.Duration) Step {
	if q.in.count == 0 {
		return Step{At: Never}
	}
	at := q.in.head
	arrived := q.in.ring[at].arrived
	start := q.start(now, arrived)
	if start > now {
		return Step{At: start}
	}
	if q.rule.Pick(start, start-arrived) == protect.Newest {
		at = q.in.newest(start)
	}
	taken := &q.in.ring[at]
	q.share.Took(start, start-taken.arrived, taken.Timeout, q.in.count)
	cost := q.cost(taken) // in its place: the pointer would move a copy to the heap
	op := q.in.take(at)
	verdict := q.rule.Judge(start-op.arrived, op.Timeout)
	if verdict != protect.Serve {
		cost = time.Duration(q.model.Discard * float64(cost))
	}
	q.busyTill = start + cost + q.flaw.Slow
	switch verdict {
	case protect.Drop:
		q.counts.discarded++
		return Step{Action: Discard, Op: op}
	case protect.Refuse:
		q.counts.discarded++
		return Step{Action: Refuse, Op: op, At: q.busyTill, Mute: q.flaw.mute()}
	default:
		q.count(op.Op)
		return Step{Action: Serve, Op: op, At: q.busyTill, Mute: q.flaw.mute()}
	}
}

func (q *Queue) cost(op *Op) time.Duration {
	if !q.model.Emulated() {
		return 0
	}
	size := len(op.Value)
	if op.Op == session.Read && q.model.PerKiB > 0 {
		size = q.sizes.Size(&op.Request)
	}
	return profile.Spread(q.rng, q.model.Mean(op.Op == session.Read, size), q.model.Jitter)
}

func (q *Queue) count(op session.Op) {
	if op == session.Write {
		q.counts.writes++
	} else {
		q.counts.reads++
	}
}

// Reset empties the inbox, hands every operation in it to release, sets the processor
// free and starts the rule and the share anew. Counters run on.
func (q *Queue) Reset(release func(Op)) {
	for q.in.count > 0 {
		release(q.in.take(q.in.head))
	}
	q.busyTill, q.rule = 0, q.setting.Queue.New()
	q.share.Forget()
}

// Stats fills in the queue's half of a brick's statistics.
func (q *Queue) Stats(into *session.BrickStats) {
	into.InboxLen, into.InboxBytes = uint64(q.in.count), uint64(q.in.bytes)
	into.Writes, into.Reads = q.counts.writes, q.counts.reads
	into.Share = q.share.Ops()
	into.Discarded, into.Dropped = q.counts.discarded, q.counts.dropped
}
