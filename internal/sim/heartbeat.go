package sim

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// planHeartbeats plans each brick's first heartbeat. The bricks do not march in step.
func (e *engine) planHeartbeats() {
	for i := range e.bricks {
		first := announceEvery * time.Duration(i+1) / time.Duration(len(e.bricks))
		e.events.push(event{at: e.now + first, kind: heartbeatIsDue, who: uint32(i)})
	}
}

// heartbeat sends a brick's regular sign of life and plans the next.
func (e *engine) heartbeat(i uint32) {
	e.beat(i)
	e.events.push(event{at: e.now + announceEvery, kind: heartbeatIsDue, who: i})
}

// beat sends all machines a sign of life, unless the brick can give none. A machine whose
// connection is broken will meet the brick anew.
func (e *engine) beat(i uint32) {
	n := &e.bricks[i]
	if n.dead() || e.now < n.queue.Defect().StallUntil {
		return
	}
	for m := range e.machines {
		if !n.knows(uint32(m)) {
			continue
		}
		if at, arrives := e.network.carry(e.now, &n.way, &n.out, wireHead, e.rng); arrives {
			e.events.push(event{at: at, kind: heartbeatArrives, who: i, slot: uint32(m)})
		}
	}
}

// hear lets a machine learn what a brick's heartbeat says.
func (e *engine) hear(i, m uint32) {
	n := &e.bricks[i]
	if n.dead() || !n.knows(m) {
		return
	}
	core, id := e.machines[m].core, session.BrickID(i+1)
	core.Heard(e.now, id, n.queue.Setting())
	core.Share(id, n.queue.Share())
}
