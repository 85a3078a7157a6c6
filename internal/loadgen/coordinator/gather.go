package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/result"
)

const (
	startDelay   = 200 * time.Millisecond // for the order to reach every agent
	readyWithin  = 15 * time.Second
	endWithin    = 15 * time.Second // beyond the length of the level
	auditTimeout = 15 * time.Second
)

// gathering is one level in the making.
type gathering struct {
	c          *Coordinator
	point      loadgen.Point
	protection string // in force at the start
	inForce    string // in the last whole second
	reachable  int
	tally      *loadgen.Tally
	ended      int
	done       []done
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

func newGathering(c *Coordinator, p loadgen.Point, protection string, before *survey) *gathering {
	return &gathering{
		c: c, point: p, protection: protection, inForce: protection, before: before, after: &survey{},
		tally:  loadgen.NewTally(p, len(c.agents), int(c.cfg.Plan.Duration/time.Second)),
		faults: loadgen.FaultEvents(p.Index, c.cfg.Faults, c.cfg.Plan.Duration),
	}
}

// until takes in reports until enough is true.
func (g *gathering) until(ctx context.Context, within time.Duration, what string, enough func() bool) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for !enough() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return fmt.Errorf("the load agents did not %s within %v", what, within)
		case r := <-g.c.reports:
			if err := g.take(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gathering) take(r report) error {
	switch {
	case r.err != nil:
		if errors.Is(r.err, io.EOF) {
			r.err = errors.New("it ended")
		}
		return &AgentError{Host: r.from.host, Err: r.err}
	case r.Failed != "":
		return &AgentError{Host: r.from.host, Err: errors.New(r.Failed)}
	case r.Ready != nil:
		g.ended++
		g.reachable = min(g.reachable, r.Ready.Reachable)
	case r.Brick != nil:
		return g.move(r.Brick)
	case r.Ended:
		g.ended++
	case r.Done != nil:
		g.done = append(g.done, done{Done: *r.Done, host: r.from.host})
	}
	for i := range r.Interval {
		if err := g.merge(r.from.index, &r.Interval[i]); err != nil {
			return &AgentError{Host: r.from.host, Err: err}
		}
	}
	return nil
}

// awaitReady waits until all machines have met their bricks.
func (g *gathering) awaitReady() error {
	g.ended, g.reachable = 0, len(g.c.cfg.Bricks)
	all := func() bool { return g.ended == len(g.c.agents) }
	if err := g.until(context.Background(), readyWithin, "get ready", all); err != nil {
		return err
	}
	if w := g.c.cfg.Plan.W; g.reachable < w {
		return fmt.Errorf("a machine reached %d bricks of %d, a write needs %d: look at ssmctl brick list",
			g.reachable, len(g.c.cfg.Bricks), w)
	}
	return nil
}

// run starts the load and gathers until it has ended everywhere. When ctx is
// cancelled it stops the load and gathers the rest.
func (g *gathering) run(ctx context.Context) error {
	g.ended = 0
	delay := startDelay
	if err := g.broadcast(message.Order{Start: &delay}); err != nil {
		return err
	}
	plan := &g.c.cfg.Plan
	all := func() bool { return g.ended == len(g.c.agents) }
	err := g.until(ctx, startDelay+plan.Warmup+plan.Duration+plan.Timeout+endWithin, "end the level", all)
	if !errors.Is(err, context.Canceled) {
		return err
	}
	if err := g.broadcast(message.Order{Stop: true}); err != nil {
		return err
	}
	return g.until(context.Background(), plan.Timeout+endWithin, "stop", all)
}

func (g *gathering) audit() error {
	if err := g.broadcast(message.Order{Audit: true}); err != nil {
		return err
	}
	all := func() bool { return len(g.done) == len(g.c.agents) }
	return g.until(context.Background(), auditTimeout, "read back what they wrote", all)
}

func (g *gathering) broadcast(o message.Order) error {
	for _, a := range g.c.agents {
		if err := a.order(o); err != nil {
			return err
		}
	}
	return nil
}

// merge adds one agent's second; a second that all have reported is progress.
func (g *gathering) merge(from int, i *loadgen.Interval) error {
	whole, err := g.tally.Add(from, i)
	over := i.Second >= int(g.c.cfg.Plan.Duration/time.Second) // what was in flight took longer
	if err != nil || !whole || over {
		return err
	}
	s, err := g.tally.Second(i.Second)
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
