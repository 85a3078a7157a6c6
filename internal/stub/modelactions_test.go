package stub

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// TestStubUnderObservation lets anything happen in any order.
func TestStubUnderObservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newObserver(t)
		actions := map[string]func(*rapid.T){
			"pass":   o.pass,
			"write":  o.write,
			"read":   o.read,
			"reply":  o.reply,
			"answer": o.answer,
			"late":   o.lateReply,
			"expire": o.expired,
			"down":   o.down,
			"up":     o.up,
			"heard":  o.heard,
			"":       o.check,
		}
		for range 10 { // of about 30 actions each
			t.Repeat(actions)
		}
		o.now += o.cfg.Timeout
		o.expired(t)
		o.check(t)
		if len(o.open) > 0 || o.core.Deadline() != 0 {
			t.Fatalf("%d attempts never end, the next deadline is %v", len(o.open), o.core.Deadline())
		}
	})
}

func (o *observer) brick(t *rapid.T) session.BrickID {
	return rapid.SampledFrom(o.cfg.Bricks).Draw(t, "brick")
}

func (o *observer) pass(t *rapid.T) {
	o.now += time.Duration(rapid.IntRange(0, 30_000).Draw(t, "µs")) * time.Microsecond
}

func (o *observer) write(t *rapid.T) {
	o.begin(t, &Attempt{Op: session.Write, Key: session.Key(o.tags), Version: 1, Value: scriptValue})
}

// read reads back a state that was written, or one that another stub wrote.
func (o *observer) read(t *rapid.T) {
	cookie := session.Cookie{Key: 1, Version: 1, Expiry: 1000, Sum: session.Sum(1, 1, 1000, scriptValue)}
	if n := len(o.cookies); n > 0 && rapid.Bool().Draw(t, "own") {
		cookie = o.cookies[rapid.IntRange(0, n-1).Draw(t, "cookie")]
	} else {
		for _, id := range rapid.SliceOfNDistinct(rapid.IntRange(1, 7), 1, 3, rapid.ID[int]).Draw(t, "named") {
			cookie.AddBrick(session.BrickID(id)) // brick-7 is never there
		}
	}
	o.begin(t, &Attempt{Op: session.Read, Cookie: &cookie})
}

// reply answers one of all the operations there ever were, in any way.
func (o *observer) reply(t *rapid.T) {
	if n := len(o.ops); n > 0 {
		status := session.Status(rapid.IntRange(0, int(session.NumStatuses)-1).Draw(t, "status"))
		value := rapid.SampledFrom([][]byte{scriptValue, []byte("another")}).Draw(t, "value")
		o.deliver(t, o.ops[rapid.IntRange(0, n-1).Draw(t, "operation")], status, value)
	}
}

// answer gives the oldest pending operation the answer that it hopes for.
func (o *observer) answer(t *rapid.T) {
	for _, op := range o.ops {
		if op.pending {
			o.deliver(t, op, session.Done, scriptValue)
			return
		}
	}
}

func (o *observer) deliver(t *rapid.T, op *operation, status session.Status, value []byte) {
	o.expire()
	a := op.attempt
	switch {
	case !op.pending:
		o.late++
	case status == session.NotFound:
		a.denied[op.brick] = true
	case status == session.Done && (a.op == session.Write || string(value) == string(scriptValue)):
		a.acked[op.brick] = true
	}
	op.pending = false
	o.took(t, o.core.Reply(o.now, op.brick, &session.Reply{ID: op.id, Status: status, Value: value}), nil)
}

// lateReply is a reply with an id that was never given.
func (o *observer) lateReply(t *rapid.T) {
	o.expire()
	o.late++
	id := uint64(rapid.SampledFrom([]uint32{0, 1 << 30, 1<<32 - 1}).Draw(t, "generation"))<<32 | rapid.Uint64Range(0, 1<<32-1).Draw(t, "slot")
	o.took(t, o.core.Reply(o.now, o.brick(t), &session.Reply{ID: id}), nil)
}

func (o *observer) expired(t *rapid.T) {
	o.expire()
	o.took(t, o.core.Expire(o.now), nil)
	for tag, a := range o.open {
		if a.deadline <= o.now {
			t.Fatalf("attempt %d is still open after its deadline", tag)
		}
	}
}

func (o *observer) down(t *rapid.T) {
	id := o.brick(t)
	o.expire()
	for _, op := range o.ops {
		if op.brick == id {
			op.pending = false
		}
	}
	o.took(t, o.core.Down(o.now, id), nil)
}

func (o *observer) up(t *rapid.T) {
	o.core.Up(o.brick(t), rapid.SampledFrom(protect.Settings()).Draw(t, "setting"))
}

func (o *observer) heard(t *rapid.T) {
	o.core.Heard(o.brick(t), rapid.SampledFrom(protect.Settings()).Draw(t, "setting"))
}

// check compares what the stub holds with what was observed.
func (o *observer) check(t *rapid.T) {
	for i := range o.core.bricks {
		b := &o.core.bricks[i]
		if want := o.inFlight(b.id); b.inFlight != want {
			t.Fatalf("%v: %d in flight, observed %d", b.id, b.inFlight, want)
		}
	}
	if late := o.core.Counts().Late; late != o.late {
		t.Fatalf("%d late replies counted, observed %d", late, o.late)
	}
	var deadline time.Duration
	for _, op := range o.ops {
		if op.pending && (deadline == 0 || op.attempt.deadline < deadline) {
			deadline = op.attempt.deadline
		}
	}
	if got := o.core.Deadline(); got != deadline {
		t.Fatalf("the next deadline is %v, want %v", got, deadline)
	}
}
