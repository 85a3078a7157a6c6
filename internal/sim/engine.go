package sim

import (
	"math/rand/v2"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/session"
)

// epoch is the virtual time at which every level begins: anything but zero, which
// the cores take for never.
const epoch = 1_000_000 * time.Second

// wireHead is what a message weighs on the wire beside the state in it, in bytes.
const wireHead = 64

// engine is one level in virtual time: machines and bricks, and the messages between
// them. Once its slices have grown to what the level needs, an event allocates nothing; only
// the bricks' tables, one for each second in which states expire, come and go.
type engine struct {
	now      time.Duration
	events   *events
	handled  uint64 // events that had an effect
	network  Network
	rng      *rand.Rand // of the network
	machines []machine
	bricks   []node
	messages messages
	size     int // of a state on the wire, in bytes
	faults   faults
	changes  []Change
	guard    *guard       // nil is none
	witness  Witness      // nil is nobody; see its hooks
	givenUp  func() error // says why the level is given up; nil is never
}

// machine is a load machine in the engine.
type machine struct {
	e     *engine
	index uint32
	core  *loadgen.Machine
	armed time.Duration // the earliest wake that is planned; 0 is none
}

// node is a brick in the engine.
type node struct {
	queue   *brick.Queue
	store   *brick.Store
	armed   time.Duration // the wake that is planned; 0 is none
	in, out link
	life    uint32        // of its process; see dead
	born    time.Duration // when its process was started anew; 0 is with the level
	way     impairment
	bonds   []bond // by machine; nil while it has never died
	kills   int
	full    uint64 // writes that former lives refused for want of memory
	corrupt uint64 // copies that former lives found so
}

// stats is what the brick says of itself.
func (n *node) stats() (s session.BrickStats) {
	n.queue.Stats(&s)
	n.store.Stats(&s)
	return s
}

// abandonEvery is how many events are handled between two looks at whether the level has been given
// up: a few milliseconds' worth, at the cost of nothing.
const abandonEvery = 1 << 13

// run handles all events until the virtual time end, unless the level is given up before.
func (e *engine) run(end time.Duration) {
	for n := 1; ; n++ {
		if n%abandonEvery == 0 && e.abandoned() != nil {
			return
		}
		ev, ok := e.events.pop(end)
		if !ok {
			break
		}
		e.now = ev.at
		e.handle(&ev)
	}
	e.now = end
}

// abandoned returns why the level has been given up, or nil.
func (e *engine) abandoned() error {
	if e.givenUp == nil {
		return nil
	}
	return e.givenUp()
}

func (e *engine) handle(ev *event) {
	switch ev.kind {
	case machineWakes:
		if m := &e.machines[ev.who]; m.armed == ev.at { // else it was woken earlier
			m.armed = 0
			e.arm(m, m.core.Step(e.now))
			e.saw(Settled, ev.who, 0)
			e.handled++
		}
		return
	case brickWakes:
		n := &e.bricks[ev.who]
		if n.armed != ev.at { // it has died since
			return
		}
		n.armed = 0
		e.serve(ev.who, n)
	case requestArrives:
		e.arrive(ev.who, ev.slot)
	case replyArrives:
		m, msg := &e.machines[ev.who], e.messages.at(ev.slot)
		if msg.life != e.bricks[msg.to].life { // it has died since
			e.messages.give(ev.slot)
			return
		}
		reply := session.Reply{ID: msg.request.ID, Status: msg.status, Share: msg.share, Value: msg.value()}
		e.sawAnswer(Delivered, msg, &reply, 0)
		m.core.Reply(e.now, session.BrickID(msg.to+1), &reply)
		e.messages.give(ev.slot)
		e.arm(m, m.core.Next())
		e.saw(Settled, ev.who, 0)
	default:
		e.handleRare(ev)
	}
	e.handled++
}

// arm plans a machine's next wake, unless it will wake earlier. Zero is no wake.
func (e *engine) arm(m *machine, next time.Duration) {
	if next == 0 || (m.armed != 0 && m.armed <= next) {
		return
	}
	m.armed = max(next, e.now)
	e.events.push(event{at: m.armed, kind: machineWakes, who: m.index})
}

// Send implements loadgen.Outlet: it puts a request on the wire.
func (m *machine) Send(to session.BrickID, r *session.Request) {
	e, i := m.e, uint32(to-1)
	size := wireHead
	if r.Op == session.Write {
		size += e.size
	}
	n := &e.bricks[i]
	e.sawRequest(Sent, m.index, i, r, false)
	at, arrives := e.network.carry(e.now, &n.way, &n.in, size, e.rng)
	if !arrives || n.lost(m.index) {
		return
	}
	slot := e.messages.take()
	msg := e.messages.at(slot)
	msg.from, msg.to, msg.life, msg.request = m.index, i, n.life, *r
	msg.carry(r.Value)
	msg.request.Value = msg.value()
	e.events.push(event{at: at, kind: requestArrives, who: i, slot: slot})
}

// arrive puts a request into a brick's inbox, and wakes a brick that is idle.
func (e *engine) arrive(i, slot uint32) {
	n, msg := &e.bricks[i], e.messages.at(slot)
	if msg.life != n.life { // it was sent to one that has died
		e.messages.give(slot)
		return
	}
	// The inbox holds the slot, and with it the value.
	taken := n.queue.Arrive(e.now, brick.Op{Request: msg.request, From: slot})
	e.sawRequest(Arrived, msg.from, i, &msg.request, !taken)
	if !taken {
		e.messages.give(slot)
	}
	if n.armed == 0 {
		e.serve(i, n)
	}
}

// serve lets a brick's processor take what it is free for by now.
func (e *engine) serve(i uint32, n *node) {
	for {
		step := n.queue.Next(e.now)
		switch step.Action {
		case brick.Idle:
			if step.At != brick.Never {
				n.armed = step.At
				e.events.push(event{at: step.At, kind: brickWakes, who: i})
			}
			return
		case brick.Discard:
			e.sawRequest(Discarded, e.messages.at(step.Op.From).from, i, &step.Op.Request, false)
			e.messages.give(step.Op.From)
		case brick.Serve, brick.Refuse:
			e.answer(n, &step)
		}
	}
}

// answer applies an operation, unless it is refused, and puts the reply on the wire for
// the instant at which the processor is done.
func (e *engine) answer(n *node, step *brick.Step) {
	slot := step.Op.From
	reply, seen := session.Reply{Status: session.Busy}, Refused
	if step.Action == brick.Serve {
		seen, reply = Served, n.store.Apply(e.now, &step.Op.Request)
	}
	size := wireHead
	if reply.Value != nil {
		size += e.size
	}
	msg := e.messages.at(slot)
	e.sawAnswer(seen, msg, &reply, step.At)
	if step.Mute {
		e.messages.give(slot)
		return
	}
	at, arrives := e.network.carry(step.At, &n.way, &n.out, size, e.rng)
	if !arrives {
		e.messages.give(slot)
		return
	}
	msg.status, msg.share = reply.Status, float32(n.queue.Share())
	msg.carry(reply.Value)
	e.events.push(event{at: at, kind: replyArrives, who: msg.from, slot: slot})
}
