package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/result"
)

const (
	startDelay  = 200 * time.Millisecond // for the order to reach every agent
	readyWithin = 15 * time.Second
	endWithin   = 15 * time.Second // beyond the length of the level
	auditGrace  = 10 * time.Second // beyond the time that the plan gives it
)

// gathering is one level in the making.
type gathering struct {
	c          *Coordinator
	point      loadgen.Point
	protection string // in force at the start
	inForce    string // in the last whole second
	reachable  int
	tally      *loadgen.Tally
	shares     map[*agent]int // machines of each agent
	waiting    map[*agent]bool
	silence    time.Duration // that an agent who is waited for may keep; 0 is any
	pongs      pongs
	began      time.Time // when the users began; zero before
	done       []done
	lost       []loss
	before     *survey // of the bricks
	after      *survey
	moves      []move         // of bricks, in the order in which they were told
	faults     []result.Event // of the level, that are still to come
}

// done is how an agent closed the level, and on which host.
type done struct {
	message.Done
	host string
}

// move is what happened to a brick, and in which second it was seen first.
type move struct {
	what   string
	second float64
}

// sameMove is within how many seconds of each other machines see the same move.
const sameMove = 1

func newGathering(c *Coordinator, p loadgen.Point, protection string, before *survey) (*gathering, error) {
	g := &gathering{
		c: c, point: p, protection: protection, inForce: protection, before: before, after: &survey{},
		tally:  loadgen.NewTally(p, len(c.agents), int(c.cfg.Plan.Duration/time.Second)),
		faults: loadgen.FaultEvents(p.Index, c.cfg.Faults, c.cfg.Plan.Duration),
		shares: make(map[*agent]int), pongs: make(pongs),
	}
	for _, a := range c.agents {
		if a.lost == nil {
			continue
		}
		if _, err := g.tally.Drop(a.index); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// expect says that every agent that is left is to report the end of something.
func (g *gathering) expect() {
	g.waiting = make(map[*agent]bool)
	for _, a := range g.c.live() {
		g.waiting[a] = true
	}
}

// until takes in reports until no agent is waited for. Those that let the time pass are lost.
func (g *gathering) until(ctx context.Context, within time.Duration, what string) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for len(g.waiting) > 0 {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			err = g.loseWaiting(fmt.Errorf("it did not %s within %v", what, within))
		case now := <-tick.C:
			err = g.loseSilent(now)
			if err == nil && g.silence > 0 {
				err = g.broadcast(message.Order{Here: true})
			}
		case r := <-g.c.reports:
			err = g.take(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *gathering) take(r report) error {
	if r.from.lost != nil {
		return nil // too late
	}
	r.from.heard = r.at
	switch {
	case r.err != nil:
		return g.lose(r.from, r.err)
	case r.Failed != "":
		return g.lose(r.from, errors.New(r.Failed))
	case r.Ready != nil:
		g.reachable = min(g.reachable, r.Ready.Reachable)
		delete(g.waiting, r.from)
	case r.Brick != nil:
		return g.move(r.Brick)
	case r.Ended:
		delete(g.waiting, r.from)
	case r.Done != nil:
		g.done = append(g.done, done{Done: *r.Done, host: r.from.host})
		delete(g.waiting, r.from)
	case r.Pong != 0:
		g.pong(&r)
	}
	for i := range r.Interval {
		if err := g.merge(r.from.index, &r.Interval[i]); err != nil {
			return &AgentError{Host: r.from.host, Err: err}
		}
	}
	return nil
}

// ready gives the orders of the level and waits until all machines have met their bricks.
func (g *gathering) ready() error {
	g.reachable = len(g.c.cfg.Bricks)
	g.expect()
	specs := g.c.specs(g.point)
	for _, a := range g.c.live() {
		g.shares[a] = specs[a].Machines
		if err := g.order(a, message.Order{Level: specs[a]}); err != nil {
			return err
		}
	}
	if err := g.until(context.Background(), readyWithin, "get ready"); err != nil {
		return err
	}
	if w := g.c.cfg.Plan.W; g.reachable < w {
		return fmt.Errorf("a machine reached %d bricks of %d, a write needs %d: look at ssmctl brick list",
			g.reachable, len(g.c.cfg.Bricks), w)
	}
	if !g.c.far() || len(g.lost) > 0 {
		return nil
	}
	return g.measureTrips()
}

// run starts the load and gathers until it has ended everywhere. When ctx is
// cancelled it stops the load and gathers the rest.
func (g *gathering) run(ctx context.Context) error {
	plan := &g.c.cfg.Plan
	g.expect()
	if err := g.start(); err != nil {
		return err
	}
	if g.c.far() {
		g.silence = silentWithin + plan.Timeout
	}
	defer func() { g.silence = 0 }()
	err := g.until(ctx, startDelay+plan.Warmup+plan.Duration+plan.Timeout+endWithin, "end the level")
	if !errors.Is(err, context.Canceled) {
		return err
	}
	if err := g.broadcast(message.Order{Stop: true}); err != nil {
		return err
	}
	return g.until(context.Background(), plan.Timeout+endWithin, "stop")
}

func (g *gathering) audit() error {
	g.expect()
	if err := g.broadcast(message.Order{Audit: true}); err != nil {
		return err
	}
	return g.until(context.Background(), g.c.cfg.Plan.AuditWithin()+auditGrace, "read back what it wrote")
}

// order gives an order; an agent that cannot take it is lost.
func (g *gathering) order(a *agent, o message.Order) error {
	var lost *AgentError
	if errors.As(a.order(o), &lost) {
		return g.lose(a, lost.Err)
	}
	return nil
}

func (g *gathering) broadcast(o message.Order) error {
	for _, a := range g.c.live() {
		if err := g.order(a, o); err != nil {
			return err
		}
	}
	return nil
}

// merge adds one agent's second; a second that all have reported is progress.
func (g *gathering) merge(from int, i *loadgen.Interval) error {
	whole, err := g.tally.Add(from, i)
	if err != nil || !whole {
		return err
	}
	return g.whole(i.Second)
}

// whole tells of a second that all agents have reported.
func (g *gathering) whole(second int) error {
	if second >= int(g.c.cfg.Plan.Duration/time.Second) { // what was in flight took longer
		return nil
	}
	s, err := g.tally.Second(second)
	if err != nil {
		return err
	}
	if g.c.cfg.Progress != nil {
		g.c.cfg.Progress(g.point, s)
	}
	if err := g.tellFaults(s.Second + 1); err != nil {
		return err
	}
	return g.follow(&s)
}

// tellFaults notes the faults that have begun and ended by a second of the series.
func (g *gathering) tellFaults(by int) error {
	for len(g.faults) > 0 && g.faults[0].Second <= float64(by) {
		e := g.faults[0]
		g.faults = g.faults[1:]
		e.Time = time.Now().UTC()
		if err := g.c.cfg.Event(e); err != nil {
			return err
		}
	}
	return nil
}

// follow notes a change of protection between one second and the next.
func (g *gathering) follow(s *result.Second) error {
	was := g.inForce
	if s.Protection == "" || s.Protection == was {
		return nil
	}
	g.inForce = s.Protection
	return g.c.cfg.Event(result.Event{
		Time: time.Now().UTC(), Level: g.point.Index, Second: float64(s.Second), Kind: "toggle",
		Who: "protection", What: was + " to " + s.Protection,
	})
}

// move notes that a brick went or came back, once for all machines.
func (g *gathering) move(b *message.Brick) error {
	kind := "brick-down"
	if b.Up {
		kind = "brick-up"
	}
	m := move{what: kind + " " + b.ID.String(), second: b.Second}
	if slices.ContainsFunc(g.moves, func(o move) bool { return o.what == m.what && math.Abs(o.second-m.second) < sameMove }) {
		return nil
	}
	g.moves = append(g.moves, m)
	return g.c.cfg.Event(result.Event{
		Time: time.Now().UTC(), Level: g.point.Index, Second: b.Second, Kind: kind, Who: b.ID.String(),
	})
}
