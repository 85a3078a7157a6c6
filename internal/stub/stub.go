package stub

import (
	"math/rand/v2"
	"time"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// Config is what a stub is built with. There are no defaults here: the zero value is not valid.
type Config struct {
	Quorum  session.Quorum
	Timeout time.Duration     // of every operation
	TTL     time.Duration     // life of the states written; rounded up to a whole second
	Policy  protect.Policy    // sizes the windows while the bricks ask for them
	Seed    uint64            // feeds the choice of bricks
	Bricks  []session.BrickID // the cluster; all are down until Up
}

// Attempt is one thing that a user asks for.
type Attempt struct {
	Tag     uint64 // the caller's own; returned in the completion
	Op      session.Op
	Key     session.Key     // writes
	Version session.Version // writes
	Value   []byte          // writes; borrowed until the sends of this call are carried out
	Cookie  *session.Cookie // reads
	Urgent  bool            // reads: whatever the windows say, and one brick after the other; for an audit, which is no load
}

// Send asks the shell to carry a request to a brick.
type Send struct {
	To      session.BrickID
	Request session.Request
}

// Completion is the end of an attempt.
type Completion struct {
	Tag     uint64
	Op      session.Op
	Outcome session.Outcome
	Cookie  session.Cookie // of a write that is OK
	Lost    bool           // of a read that is Refused: every brick that the cookie names has denied an unexpired state
	Corrupt bool           // likewise, but that at least one of them had it and its checksum no longer matched
	Odd     [OddBytes]byte // of a read that is Wrong: the first bytes of the last answer that did not verify
}

// OddBytes is how much is kept of an answer that did not verify: enough to tell whose it is.
const OddBytes = 16

// Effects is what a call asks of its caller. Both slices are reused by the next call.
type Effects struct {
	Sends []Send
	Done  []Completion
}

// Counts are sums since the stub's start.
type Counts struct {
	Begun  uint64 // writes sent out, however they ended
	Sent   uint64 // copies of those
	Writes uint64 // acknowledged writes
	Acked  uint64 // copies acknowledged of those, within the time-out
	Late   uint64 // replies that came when the stub had let go
}

// Core is a stub. It is not safe for concurrent use; now must never go backwards.
type Core struct {
	cfg     Config
	rng     *rand.Rand
	bricks  []brick
	index   map[session.BrickID]int32
	calls   calls
	scratch []int32
	fx      Effects
	counts  Counts
}

// brick is what a stub knows of one brick.
type brick struct {
	id       session.BrickID
	up       bool
	setting  protect.Setting
	window   protect.Window // made anew whenever windows come into force
	inFlight int
}

// room reports whether the brick may be sent one more operation.
func (b *brick) room(now time.Duration, urgent bool) bool {
	return b.up && (urgent || !b.setting.Window || b.window.Admit(now, b.inFlight))
}

// New returns a stub that knows its bricks by name and has met none of them.
func New(cfg Config) *Core {
	c := &Core{
		cfg:   cfg,
		rng:   rand.New(rand.NewPCG(cfg.Seed, cfg.Seed)),
		index: make(map[session.BrickID]int32, len(cfg.Bricks)),
	}
	for i, id := range cfg.Bricks {
		c.index[id] = int32(i)
		c.bricks = append(c.bricks, brick{id: id})
	}
	return c
}

// find returns where a brick stands. Bricks are mostly numbered from 1 without a gap;
// then it is where its number says.
func (c *Core) find(id session.BrickID) (int32, bool) {
	if i := int(id) - 1; i >= 0 && i < len(c.bricks) && c.bricks[i].id == id {
		return int32(i), true
	}
	i, known := c.index[id]
	return i, known
}

// Counts returns the sums so far.
func (c *Core) Counts() Counts { return c.counts }

// Up tells of a brick's first sign of life, with the protection it announces.
func (c *Core) Up(id session.BrickID, s protect.Setting) {
	i, known := c.find(id)
	if !known {
		return
	}
	b := &c.bricks[i]
	b.up, b.setting = true, s
	b.window = c.cfg.Policy.New(c.cfg.Timeout, c.cfg.Seed)
}

// Heard tells of the protection in a brick's heartbeat. Windows that come into
// force start as those of a stub that has just met the brick.
func (c *Core) Heard(id session.BrickID, s protect.Setting) {
	i, known := c.find(id)
	if !known || c.bricks[i].setting == s {
		return
	}
	b := &c.bricks[i]
	if s.Window && !b.setting.Window {
		b.window = c.cfg.Policy.New(c.cfg.Timeout, c.cfg.Seed)
	}
	b.setting = s
}

// Share tells of the operations in flight that a brick offers each of its stubs.
func (c *Core) Share(id session.BrickID, ops float64) {
	if i, known := c.find(id); known && c.bricks[i].up {
		c.bricks[i].window.Share(ops)
	}
}

// Down tells that a brick cannot be reached: what was in flight to it has failed.
func (c *Core) Down(now time.Duration, id session.BrickID) *Effects {
	c.reset()
	c.expire(now)
	i, known := c.find(id)
	if !known || !c.bricks[i].up {
		return &c.fx
	}
	c.bricks[i].up = false
	c.calls.each(func(slot uint32, k *call) {
		if leg := k.leg(i); leg != nil && leg.pending {
			c.settle(k, leg)
			c.fallBack(now, slot, k)
		}
	})
	return &c.fx
}

// Setting returns the protection that the reachable bricks announce, and
// whether they agree. Without any brick it is off.
func (c *Core) Setting() (s protect.Setting, agreed bool) {
	seen := false
	for i := range c.bricks {
		b := &c.bricks[i]
		switch {
		case !b.up:
		case !seen:
			s, seen = b.setting, true
		case s != b.setting:
			return s, false
		}
	}
	return s, true
}

// Reachable returns how many bricks are up.
func (c *Core) Reachable() int {
	n := 0
	for i := range c.bricks {
		if c.bricks[i].up {
			n++
		}
	}
	return n
}

func (c *Core) reset() {
	c.fx.Sends, c.fx.Done = c.fx.Sends[:0], c.fx.Done[:0]
}
