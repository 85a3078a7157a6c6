package sim

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// Witness is shown what happens in a level while it happens, for a check from outside. It
// must not change what it is shown, and values are lent for the length of the call.
type Witness interface {
	// Start comes first, when machines and bricks are there and nothing has happened.
	Start(w World)
	// See shows one thing.
	See(s *Sight)
}

// What tells sights apart.
type What uint8

// The sights. Those that tell a machine something come before its stub knows.
const (
	Began        What = iota // a user begins an attempt, and the stub is asked next
	Sent                     // a machine puts a request on the wire, where it may vanish
	Arrived                  // a request comes to a brick; with Dropped its inbox is full
	Served                   // a brick begins to serve a request; the reply leaves at Done
	Discarded                // a brick drops a request without a reply
	Refused                  // a brick says no to a request unserved; the reply leaves at Done
	Delivered                // a reply comes to a machine
	Ended                    // an attempt ends, and the user learns of it next
	Settled                  // a machine has done all that the last event asked of it
	Met                      // a machine learns that a brick is there
	Parted                   // a machine learns that a brick is not there
	Killed                   // a brick dies with all that it held
	Revived                  // it is back, empty
	Protected                // a brick's protection changes
	FaultBegins              // see Fault
	FaultEnds                // see Fault
	Flipped                  // a bit of what a brick holds turns over; see Struck
	UsersStop                // no user begins again
	InboxesEmpty             // every brick lets go of what waited; the audit begins
	Over                     // the audit is done
)

// Sight is one thing that happened. Fields that mean nothing for it are zero.
type Sight struct {
	What       What
	Now        time.Duration // see World.Epoch
	Machine    int
	Brick      session.BrickID
	Request    *session.Request // Sent, Arrived, Served, Discarded, Refused
	Dropped    bool             // Arrived
	Reply      *session.Reply   // Served, Refused, Delivered
	Done       time.Duration    // Served, Refused: when the processor is done
	Attempt    *stub.Attempt    // Began
	Completion *stub.Completion // Ended
	Setting    protect.Setting  // Protected
	Fault      *chaos.Fault     // FaultBegins, FaultEnds
	Struck     *brick.Flipped   // Flipped
}

// World lets a witness look around.
type World struct{ l *level }

// Epoch is the virtual time at which the level begins.
func (w World) Epoch() time.Duration { return epoch }

// View returns what a machine's stub knows of a brick.
func (w World) View(machine int, id session.BrickID) stub.View {
	return w.l.engine.machines[machine].core.View(id)
}

// Stats returns a brick's statistics.
func (w World) Stats(id session.BrickID) session.BrickStats {
	return w.l.engine.bricks[id-1].stats()
}

// Setting returns a brick's protection.
func (w World) Setting(id session.BrickID) protect.Setting {
	return w.l.engine.bricks[id-1].queue.Setting()
}

// Held asks a brick for a state without asking its processor.
func (w World) Held(now time.Duration, id session.BrickID, r *session.Request) ([]byte, session.Status) {
	return w.l.engine.bricks[id-1].store.Get(now, r)
}

// Bounds are those of a brick's memory and inbox, in bytes. They are smaller than the
// configured ones as the simulator's states are.
func (w World) Bounds() (memory, inbox int64) { return w.l.memory, w.l.inbox }

// Filled is what a fault takes of a brick's memory, on the same scale.
func (w World) Filled(f *chaos.Fault) int64 { return w.l.engine.faults.bytes(f) }

func (l *level) beginWatch() {
	if w := l.engine.witness; w != nil {
		w.Start(World{l})
	}
}

// The hooks. They are inlined, so that each costs a level without a witness one comparison. What
// they are given by pointer is copied for the witness, so that it stays where it is.

func (e *engine) sawRequest(what What, machine, brick uint32, r *session.Request, dropped bool) {
	if e.witness != nil {
		e.showRequest(what, machine, brick, r, dropped)
	}
}

func (e *engine) sawAnswer(what What, m *message, r *session.Reply, done time.Duration) {
	if e.witness != nil {
		e.showAnswer(what, m, r, done)
	}
}

// saw shows what concerns a machine and a brick; either may mean nothing.
func (e *engine) saw(what What, machine, brick uint32) {
	if e.witness != nil {
		e.show(what, machine, brick)
	}
}

func (e *engine) showRequest(what What, machine, brick uint32, r *session.Request, dropped bool) {
	shown := *r
	e.witness.See(&Sight{What: what, Now: e.now, Machine: int(machine), Brick: session.BrickID(brick + 1), Request: &shown, Dropped: dropped})
}

func (e *engine) showAnswer(what What, m *message, r *session.Reply, done time.Duration) {
	request, reply := m.request, *r
	e.witness.See(&Sight{
		What: what, Now: e.now, Machine: int(m.from), Brick: session.BrickID(m.to + 1),
		Request: &request, Reply: &reply, Done: done,
	})
}

//go:noinline
func (e *engine) show(what What, machine, brick uint32) {
	e.witness.See(&Sight{What: what, Now: e.now, Machine: int(machine), Brick: session.BrickID(brick + 1)})
}

func (e *engine) sawFault(what What, f *chaos.Fault) {
	if e.witness != nil {
		shown := *f
		e.witness.See(&Sight{What: what, Now: e.now, Brick: f.Brick, Fault: &shown})
	}
}

func (e *engine) sawFlip(i uint32, f *brick.Flipped) {
	if e.witness != nil {
		shown := *f
		e.witness.See(&Sight{What: Flipped, Now: e.now, Brick: session.BrickID(i + 1), Struck: &shown})
	}
}

// watcher passes on what loadgen shows.
type watcher struct{ witness Witness }

// watch returns the witness as machines know it, or nobody.
func (e *engine) watch() loadgen.Watcher {
	if e.witness == nil {
		return nil
	}
	return watcher{e.witness}
}

func (w watcher) Began(now time.Duration, machine int, a stub.Attempt) {
	w.witness.See(&Sight{What: Began, Now: now, Machine: machine, Attempt: &a})
}

func (w watcher) Ended(now time.Duration, machine int, d *stub.Completion) {
	w.witness.See(&Sight{What: Ended, Now: now, Machine: machine, Completion: d})
}
