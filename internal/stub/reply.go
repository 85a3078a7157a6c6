package stub

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Reply tells of a brick's answer. A reply that comes when the stub has let go of
// its operation is counted as late and changes nothing else.
func (c *Core) Reply(now time.Duration, from session.BrickID, r *session.Reply) *Effects {
	c.reset()
	c.expire(now)
	k := c.calls.find(r.ID)
	i, known := c.find(from)
	if k == nil || !known {
		c.counts.Late++
		return &c.fx
	}
	leg := k.leg(i)
	if leg == nil || !leg.pending {
		c.counts.Late++
		return &c.fx
	}
	b := &c.bricks[i]
	b.window.Share(float64(r.Share))
	if r.Status == session.Busy { // tells of overload as a time-out does, only sooner
		b.window.Timeout(now, b.inFlight)
	} else {
		b.window.Ack(now, now-leg.sent)
	}
	c.settle(k, leg)
	c.judge(k, i, r)
	c.fallBack(now, uint32(r.ID), k)
	return &c.fx
}

// settle takes an operation out of flight.
func (c *Core) settle(k *call, leg *leg) {
	leg.pending = false
	k.pending--
	c.bricks[leg.brick].inFlight--
}

// judge counts an answer.
func (c *Core) judge(k *call, brick int32, r *session.Reply) {
	switch {
	case r.Status == session.NotFound:
		k.noes++
		k.missing++
	case r.Status == session.Corrupt:
		k.noes++
		k.corrupt++
	case r.Status != session.Done:
		k.noes++
	case k.op == session.Write:
		k.acks++
		if k.acks <= c.cfg.Quorum.WQ {
			k.cookie.AddBrick(c.bricks[brick].id)
		}
	case k.done: // a second copy of a read that is answered
	case session.Sum(k.cookie.Key, k.cookie.Version, k.cookie.Expiry, r.Value) != k.cookie.Sum:
		k.wrong++
		k.odd = [OddBytes]byte{}
		copy(k.odd[:], r.Value)
	default:
		k.acks++
	}
}

// fallBack completes a call that has enough answers, or can no longer get them;
// a read that got none asks another of the bricks that its cookie names.
func (c *Core) fallBack(now time.Duration, slot uint32, k *call) {
	enough := 1
	if k.op == session.Write {
		enough = c.cfg.Quorum.WQ
	}
	switch {
	case k.done:
	case k.acks >= enough:
		c.finish(k, session.OK)
	case k.acks+k.pending >= enough:
	case k.op == session.Read && c.askAnother(now, slot, k):
	case k.wrong > 0:
		c.finish(k, session.Wrong)
	case k.noes > 0:
		c.finish(k, session.Refused)
	default:
		c.finish(k, session.Error)
	}
	if k.pending == 0 {
		c.retire(slot, k)
	}
}

func (c *Core) askAnother(now time.Duration, slot uint32, k *call) bool {
	if k.deadline <= now {
		return false
	}
	for _, id := range k.cookie.Bricks() {
		i, known := c.find(id)
		if known && k.leg(i) == nil && c.bricks[i].room(now, k.urgent) {
			r := ref{slot, k.generation}
			c.send(now, k, i, c.readRequest(r, k, k.deadline-now))
			return true
		}
	}
	return false
}

func (c *Core) finish(k *call, outcome session.Outcome) {
	k.done = true
	done := Completion{Tag: k.tag, Op: k.op, Outcome: outcome}
	switch {
	case k.op == session.Write && outcome == session.OK:
		done.Cookie = k.cookie
	case k.op == session.Read && outcome == session.Refused:
		all := len(k.cookie.Bricks())
		done.Lost = k.missing == all
		done.Corrupt = k.corrupt > 0 && k.missing+k.corrupt == all
	case outcome == session.Wrong:
		done.Odd = k.odd
	}
	c.fx.Done = append(c.fx.Done, done)
}

// retire ends a call whose operations are all settled.
func (c *Core) retire(slot uint32, k *call) {
	if k.op == session.Write && k.acks >= c.cfg.Quorum.WQ {
		c.counts.Writes++
		c.counts.Acked += uint64(k.acks)
	}
	c.calls.close(slot)
}

// Expire lets go of every operation whose time-out has passed.
func (c *Core) Expire(now time.Duration) *Effects {
	c.reset()
	c.expire(now)
	return &c.fx
}

func (c *Core) expire(now time.Duration) {
	for {
		slot, k := c.calls.oldest()
		if k == nil || k.deadline > now {
			return
		}
		for i := range k.legs[:k.count] {
			if leg := &k.legs[i]; leg.pending {
				b := &c.bricks[leg.brick]
				b.window.Timeout(now, b.inFlight)
				c.settle(k, leg)
			}
		}
		if !k.done {
			c.finish(k, session.Timeout)
		}
		c.retire(slot, k)
	}
}

// Deadline returns when Expire must be called next, or zero with nothing in flight.
func (c *Core) Deadline() time.Duration {
	if _, k := c.calls.oldest(); k != nil {
		return k.deadline
	}
	return 0
}
