package sim

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// announceEvery is how often a brick announces itself (SSM, NSDI 2004: every second).
const announceEvery = time.Second

// fault is one of the level's, in virtual time.
type fault struct {
	chaos.Fault
	begin, end time.Duration // [begin, end)
	active     bool
	cured      time.Duration // when a repair ended it early; 0 is never
}

// faults is what a level has of them. What is wrong with a brick at any instant follows from
// the faults that are active then and from nothing else, so they may overlap in any
// way, and each ends on its own.
type faults struct {
	all     []fault
	setting protect.Setting   // of a brick that is back
	memory  int64             // of its store, in bytes
	seed    uint64            // of bits that flip
	scale   func(int64) int64 // from bytes of real states to those of the simulator's
}

// planFaults plans the begin and the end of every fault. Second 0 of the series is at zero,
// the end of the level at end.
func (e *engine) planFaults(all []chaos.Fault, zero, end time.Duration) {
	for _, f := range all {
		e.faults.all = append(e.faults.all, fault{Fault: f, begin: zero + f.At, end: zero + f.Ends(end-zero)})
	}
	for _, p := range e.network.Partitions {
		cut := chaos.Fault{Kind: chaos.Partition, Brick: p.Brick}
		e.faults.all = append(e.faults.all, fault{Fault: cut, begin: epoch + p.From, end: epoch + p.From + p.For})
	}
	for i := range e.faults.all {
		f := &e.faults.all[i]
		if f.Kind == chaos.Surge { // it strikes no brick: the machines know of it
			continue
		}
		e.events.push(event{at: f.begin, kind: faultBegins, who: uint32(i)})
		if f.Kind != chaos.Flip { // which is over at once
			e.events.push(event{at: f.end, kind: faultEnds, who: uint32(i)})
		}
	}
}

// handleRare handles all events but those of the requests themselves: faults, heartbeats,
// changes and the guard's looks.
func (e *engine) handleRare(ev *event) {
	switch ev.kind {
	case faultBegins:
		e.turn(ev.who, true)
	case faultEnds:
		e.turn(ev.who, false)
	case brickAnnounces:
		e.announce(ev.who, ev.slot)
	case connectionEnds, brickHeard:
		e.learn(&e.machines[ev.who], ev.kind, ev.slot)
	case protectionChanges:
		e.change(&e.changes[ev.who])
	case heartbeatIsDue:
		e.heartbeat(ev.who)
	case heartbeatArrives:
		e.hear(ev.who, ev.slot)
	case guardLooks:
		e.look()
	}
}

// turn begins or ends a fault.
func (e *engine) turn(i uint32, active bool) {
	f := &e.faults.all[i]
	if f.cured != 0 {
		return
	}
	f.active = active
	if active {
		e.sawFault(FaultBegins, &f.Fault)
	} else {
		e.sawFault(FaultEnds, &f.Fault)
	}
	if f.Kind == chaos.Flip {
		e.flip(i, &f.Fault)
		return
	}
	e.afflict(uint32(f.Brick - 1))
}

// afflict makes a brick what the active faults make of it.
func (e *engine) afflict(i uint32) {
	n := &e.bricks[i]
	var defect brick.Defect
	way, dead, filled := impairment{delays: n.way.delays[:0]}, false, int64(0)
	for k := range e.faults.all {
		f := &e.faults.all[k]
		if !f.active || uint32(f.Brick-1) != i {
			continue
		}
		switch f.Kind {
		case chaos.Kill, chaos.FlipCrash:
			dead = true
		case chaos.Fill:
			filled += e.faults.bytes(&f.Fault)
		case chaos.Stall:
			defect.StallUntil = max(defect.StallUntil, f.end)
		case chaos.Slow:
			defect.Slow += f.By
		case chaos.Drop:
			defect.Drop = either(defect.Drop, f.Share)
		default:
			way.add(&f.Fault)
		}
	}
	n.queue.Break(e.now, defect)
	n.way = way
	switch {
	case dead && !n.dead():
		e.kill(i, n)
	case !dead && n.dead():
		e.revive(i, n)
	}
	n.store.Fill(filled)
	e.hangUp(i, n)
}

// add takes in a fault of the brick's connection to the network.
func (w *impairment) add(f *chaos.Fault) {
	switch f.Kind {
	case chaos.Partition:
		w.cut = true
	case chaos.Loss:
		w.loss = either(w.loss, f.Share)
	case chaos.Delay:
		w.delays = append(w.delays, delay{by: f.By, jitter: float64(f.Jitter) / float64(f.By)})
	}
}

// bytes returns how much of a brick's memory a fault takes away.
func (f *faults) bytes(fill *chaos.Fault) int64 {
	if fill.Bytes > 0 {
		return f.scale(fill.Bytes)
	}
	return int64(fill.Share * float64(f.memory))
}

// flip turns bits of what a brick holds over. Machines know from then on that it may have lost
// something: what a bit of a name takes away, no answer tells from what was never there.
func (e *engine) flip(k uint32, f *chaos.Fault) {
	i := uint32(f.Brick - 1)
	seed := e.faults.seed ^ uint64(k+1)<<32 ^ uint64(f.Brick)
	for _, struck := range e.bricks[i].store.Flip(e.now, seed, max(1, f.Bits)) {
		e.sawFlip(i, &struck)
	}
	for m := range e.machines {
		e.machines[m].core.Damaged(e.now, f.Brick)
	}
}

// either is the share that one or both of two shares hit.
func either(p, q float64) float64 { return 1 - (1-p)*(1-q) }

// bond is what a machine believes of a brick.
type bond uint8

const (
	bonded  bond = iota // it has a connection
	broken              // the brick has died since, and the machine has not been told
	unbound             // it has been told, and waits for a sign of life
)

// dead reports whether the brick is not there. Its lives are told apart by number, so
// that what was on its way to or from one of them does not arrive in another; between them
// the number is odd.
func (n *node) dead() bool { return n.life&1 == 1 }

// kill ends a brick's process: what it held and what waited is gone, and every machine's
// connection is broken.
func (e *engine) kill(i uint32, n *node) {
	e.saw(Killed, 0, i)
	n.life++
	n.kills++
	s := n.stats()
	n.full += s.Full
	n.corrupt += s.Corrupt
	*n.store = *brick.NewStore(e.faults.memory)
	n.queue.Reset(func(op brick.Op) { e.messages.give(op.From) })
	n.armed, n.in, n.out = 0, link{}, link{}
	if n.bonds == nil {
		n.bonds = make([]bond, len(e.machines))
	}
	for m, b := range n.bonds {
		if b == bonded {
			n.bonds[m] = broken
		}
	}
}

// knows reports whether a machine has a connection to the brick.
func (n *node) knows(machine uint32) bool { return n.bonds == nil || n.bonds[machine] == bonded }

// lost reports whether what a machine sends goes to a process that has died.
func (n *node) lost(machine uint32) bool { return n.bonds != nil && n.bonds[machine] == broken }

// revive starts a brick's process again, with nothing in it. It announces itself every
// second, and the first time at any instant within one.
func (e *engine) revive(i uint32, n *node) {
	e.saw(Revived, 0, i)
	n.life++
	n.born = e.now
	n.queue.Set(e.faults.setting)
	first := time.Duration(e.rng.Float64() * float64(announceEvery))
	e.events.push(event{at: e.now + first, kind: brickAnnounces, who: i, slot: n.life})
}

// hangUp tells the machines whose connections a brick's death has broken. Through a partition
// none can be told, so it is tried again with each change of the brick's faults.
func (e *engine) hangUp(i uint32, n *node) {
	for m, b := range n.bonds {
		if b == broken {
			e.tell(uint32(m), i, n, connectionEnds)
		}
	}
}

// announce tells the machines that have no connection that the brick is there.
func (e *engine) announce(i, life uint32) {
	n := &e.bricks[i]
	if n.life != life {
		return
	}
	waiting, stalled := false, e.now < n.queue.Defect().StallUntil
	for m, b := range n.bonds {
		if b == bonded {
			continue
		}
		waiting = true
		if !stalled {
			e.tell(uint32(m), i, n, brickHeard)
		}
	}
	if waiting {
		e.events.push(event{at: e.now + announceEvery, kind: brickAnnounces, who: i, slot: life})
	}
}

// tell sends a machine word of a brick. A connection's end is repeated by those who carry it
// until it arrives, so that loss cannot touch it.
func (e *engine) tell(to, from uint32, n *node, what kind) {
	network, way := e.network, n.way
	if what == connectionEnds {
		network.Loss, way.loss = 0, 0
	}
	at, arrives := network.carry(e.now, &way, &n.out, wireHead, e.rng)
	if !arrives {
		return
	}
	slot := e.messages.take()
	msg := e.messages.at(slot)
	msg.from, msg.to, msg.life = to, from, n.life
	e.events.push(event{at: at, kind: what, who: to, slot: slot})
}

// learn makes a machine know of a brick what a message says.
func (e *engine) learn(m *machine, what kind, slot uint32) {
	msg := e.messages.at(slot)
	n, id, life := &e.bricks[msg.to], session.BrickID(msg.to+1), msg.life
	e.messages.give(slot)
	b := &n.bonds[m.index]
	switch {
	case what == connectionEnds && *b == broken:
		*b = unbound
		e.saw(Parted, m.index, msg.to)
		m.core.Down(e.now, id)
	case what == brickHeard && *b == unbound && life == n.life:
		*b = bonded
		e.saw(Met, m.index, msg.to)
		m.core.Up(e.now, id, n.queue.Setting())
	default:
		return
	}
	e.arm(m, m.core.Next())
	e.saw(Settled, m.index, 0)
}
