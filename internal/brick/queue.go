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
)

// Step is one decision of the processing loop.
type Step struct {
	Action Action
	Op     Op            // Serve and Discard
	At     time.Duration // Idle: when to ask again, Never without work; Serve: when the processor is done
}

// Queue is the inbox and the processor behind it: a single server. The processor
// works in virtual finishing times: an operation starts at its arrival or when the one
// before it is done, whichever is later, however late Next is called. A late timer
// therefore delays a reply, but costs no capacity.
//
// It is not safe for concurrent use.
type Queue struct {
	in       inbox
	model    profile.Processor
	setting  protect.Setting
	limit    int
	rng      *rand.Rand
	sizes    Sizer
	busyTill time.Duration
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
		model: model, setting: setting, limit: inboxBytes, sizes: sizes,
		rng: rand.New(rand.NewPCG(seed, seed)),
	}
}

// Setting returns the protection in force.
func (q *Queue) Setting() protect.Setting { return q.setting }

// Set changes the protection; it holds from the next operation on.
func (q *Queue) Set(s protect.Setting) { q.setting = s }

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
	start := now
	if q.model.Emulated() {
		start = max(q.in.peek().arrived, q.busyTill)
	}
	if start > now {
		return Step{At: start}
	}
	cost := q.cost(q.in.peek()) // in its place: the pointer would move a copy to the heap
	op := q.in.pop()
	if q.setting.Dead(start-op.arrived, op.Timeout) {
		q.counts.discarded++
		q.busyTill = start + time.Duration(q.model.Discard*float64(cost))
		return Step{Action: Discard, Op: op}
	}
	q.count(op.Op)
	q.busyTill = start + cost
	return Step{Action: Serve, Op: op, At: q.busyTill}
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

// Reset empties the inbox, hands every operation in it to release, and sets the
// processor free. Counters run on.
func (q *Queue) Reset(release func(Op)) {
	for q.in.count > 0 {
		release(q.in.pop())
	}
	q.busyTill = 0
}

// Stats fills in the queue's half of a brick's statistics.
func (q *Queue) Stats(into *session.BrickStats) {
	into.InboxLen, into.InboxBytes = uint64(q.in.count), uint64(q.in.bytes)
	into.Writes, into.Reads = q.counts.writes, q.counts.reads
	into.Discarded, into.Dropped = q.counts.discarded, q.counts.dropped
}
