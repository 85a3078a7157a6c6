package sim

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// Change sets the protection of all bricks at once in the middle of a level, as ssmctl
// protect does. Stubs learn of it by the bricks' heartbeats, the first of which is sent at that instant.
type Change struct {
	At         time.Duration // since the end of the warm-up
	Protection protect.Setting
}

// planChanges plans the changes of protection.
func (e *engine) planChanges(all []Change, zero time.Duration) {
	e.changes = all
	for i := range all {
		e.events.push(event{at: zero + all[i].At, kind: protectionChanges, who: uint32(i)})
	}
}

// change carries out a change. A brick that is dead comes back with the new setting.
func (e *engine) change(c *Change) {
	e.faults.setting = c.Protection
	for i := range e.bricks {
		n := &e.bricks[i]
		if n.dead() {
			continue
		}
		n.queue.Set(c.Protection)
		if e.witness != nil {
			e.witness.See(&Sight{What: Protected, Now: e.now, Brick: session.BrickID(i + 1), Setting: c.Protection})
		}
		e.beat(uint32(i))
	}
}
