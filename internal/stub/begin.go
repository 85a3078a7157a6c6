package stub

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Begin starts an attempt. It either sends to bricks or completes at once: with
// Rejected when too few windows have room, with Error when too few bricks are reachable, with Refused
// when a cookie has expired. There is no queue: what cannot go now never goes.
func (c *Core) Begin(now time.Duration, a *Attempt) *Effects {
	c.reset()
	if a.Op == session.Write {
		c.beginWrite(now, a)
	} else {
		c.beginRead(now, a)
	}
	return &c.fx
}

func (c *Core) beginWrite(now time.Duration, a *Attempt) {
	need := c.cfg.Quorum.W
	reachable := c.withRoom(now, nil, false)
	if len(c.scratch) < need {
		c.refuse(a, reachable >= need)
		return
	}
	const second = time.Second
	expiry := session.Expiry((now + c.cfg.TTL + second - 1) / second)
	sum := session.Sum(a.Key, a.Version, expiry, a.Value)
	r, k := c.open(now, a)
	c.counts.Begun++
	c.counts.Sent += uint64(need)
	k.cookie = session.Cookie{Key: a.Key, Version: a.Version, Expiry: expiry, Sum: sum}
	for range need {
		c.send(now, k, c.draw(), session.Request{
			ID: r.id(), Op: session.Write, Key: a.Key, Version: a.Version, Expiry: expiry, Sum: sum,
			TTL: time.Duration(expiry)*second - now, Timeout: c.cfg.Timeout, Value: a.Value,
		})
	}
}

func (c *Core) beginRead(now time.Duration, a *Attempt) {
	if a.Cookie.Expiry.Passed(now) {
		c.complete(a.Tag, a.Op, session.Refused)
		return
	}
	reachable := c.withRoom(now, a.Cookie.Bricks(), a.Urgent)
	need := min(c.cfg.Quorum.R, reachable)
	if a.Urgent {
		need = min(1, reachable)
	}
	if need == 0 || len(c.scratch) < need {
		c.refuse(a, need > 0)
		return
	}
	r, k := c.open(now, a)
	k.cookie = *a.Cookie
	for range need {
		c.send(now, k, c.draw(), c.readRequest(r, k, c.cfg.Timeout))
	}
}

func (c *Core) readRequest(r ref, k *call, timeout time.Duration) session.Request {
	return session.Request{
		ID: r.id(), Op: session.Read, Key: k.cookie.Key, Version: k.cookie.Version,
		Expiry: k.cookie.Expiry, Timeout: timeout,
	}
}

// refuse completes an attempt that has not begun: the bricks are there but have no
// room, or they are not there.
func (c *Core) refuse(a *Attempt, reachable bool) {
	outcome := session.Error
	if reachable {
		outcome = session.Rejected
	}
	c.complete(a.Tag, a.Op, outcome)
}

func (c *Core) open(now time.Duration, a *Attempt) (ref, *call) {
	r, k := c.calls.open(now + c.cfg.Timeout)
	k.op, k.tag, k.urgent = a.Op, a.Tag, a.Urgent
	return r, k
}

// withRoom gathers in scratch the bricks that have room, of those named or of
// all, and returns how many are reachable.
func (c *Core) withRoom(now time.Duration, named []session.BrickID, urgent bool) (reachable int) {
	c.scratch = c.scratch[:0]
	consider := func(i int32) {
		b := &c.bricks[i]
		if b.up {
			reachable++
		}
		if b.room(now, urgent) {
			c.scratch = append(c.scratch, i)
		}
	}
	if named == nil {
		for i := range c.bricks {
			consider(int32(i))
		}
		return reachable
	}
	for _, id := range named {
		if i, known := c.find(id); known {
			consider(i)
		}
	}
	return reachable
}

// draw takes one brick out of scratch at random.
func (c *Core) draw() int32 {
	n := len(c.scratch)
	at := c.rng.IntN(n)
	i := c.scratch[at]
	c.scratch[at] = c.scratch[n-1]
	c.scratch = c.scratch[:n-1]
	return i
}

// send puts one operation of a call in flight.
func (c *Core) send(now time.Duration, k *call, to int32, r session.Request) {
	k.legs[k.count] = leg{brick: to, pending: true, sent: now}
	k.count++
	k.pending++
	b := &c.bricks[to]
	b.inFlight++
	c.fx.Sends = append(c.fx.Sends, Send{To: b.id, Request: r})
}

func (c *Core) complete(tag uint64, op session.Op, outcome session.Outcome) {
	c.fx.Done = append(c.fx.Done, Completion{Tag: tag, Op: op, Outcome: outcome})
}
