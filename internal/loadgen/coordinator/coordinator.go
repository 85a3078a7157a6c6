// Package coordinator is the shell that runs a plan: it prepares the bricks, tells
// the agents what to do level by level, gathers what they report, and hands each level on as
// a row with its series.
//
// It does not know where bricks and agents run: its caller has started them.
package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// Agent is a running agent. The coordinator talks to it over the two streams.
type Agent struct {
	Host string // for messages and for its file in the run directory
	In   io.Writer
	Out  io.Reader
}

// Config is what a run needs.
type Config struct {
	Plan    result.Plan
	Profile profile.Profile
	Run     string // its name
	Nonce   uint64 // tells its keys from those of any other run
	Bricks  []remote.Brick
	Keys    *secure.Keys // of this load and its agents, to speak with the bricks; nil is plaintext
	Agents  []Agent
	Skip    int           // points of the plan that a resumed run has
	Faults  []chaos.Fault // of the plan; surges are all that a live run knows
	// Sink takes each level when it ends; it must be set, and its error ends the run.
	Sink func(result.Level) error
	// Event takes what happens beside the figures; it must be set.
	Event func(result.Event) error
	// Warn is told of what the user should know and the run survives.
	Warn func(string)
	// AllowLost lets the run go on with the other agents when some are lost.
	AllowLost bool
	// RoundTrip is told, once, how long an order to a host and its answer take; the start of each
	// level allows for it. Where it is nil all agents are near: nothing is measured, and silence
	// on either side is not taken for a loss.
	RoundTrip func(host string, trip time.Duration)
	// Progress is told of every second of a level as it is merged.
	Progress func(loadgen.Point, result.Second)
}

// ErrInterrupted ends a run whose context was cancelled: what was measured has
// gone to the sink.
var ErrInterrupted = errors.New("interrupted")

// errNotBegun is the error of a level whose agents were lost before its start.
var errNotBegun = errors.New("not all load agents got ready")

// joinWithin is the time within which the users of a level begin, one by one.
const joinWithin = time.Second

// Coordinator runs one plan.
type Coordinator struct {
	cfg     Config
	bricks  remote.Client
	agents  []*agent // those of a host one after the other
	reports chan report
	told    bool // of the round trips
}

// New takes over the agents. They must be ready for their first order.
func New(cfg Config) *Coordinator {
	c := &Coordinator{cfg: cfg, reports: make(chan report)}
	c.agents = agentsOf(cfg.Agents)
	return c
}

// Run measures every point of the plan. When ctx is cancelled the level under way
// is stopped, goes to the sink with the seconds that it has, and Run returns ErrInterrupted.
// When an agent is lost the level goes on with the others and is marked, and unless that is
// allowed it is the last: Run returns a *LostError. Bricks whose protection was changed get
// the old one back.
func (c *Coordinator) Run(ctx context.Context) error {
	done := make(chan struct{})
	defer close(done)
	for _, a := range c.agents {
		go a.listen(c.reports, done)
	}
	if err := c.handKeys(); err != nil {
		return err
	}
	restore, err := c.rememberProtection(ctx)
	if err != nil {
		return err
	}
	defer restore()
	for _, p := range loadgen.Points(&c.cfg.Plan)[c.cfg.Skip:] {
		if err := c.measure(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// measure hands one row on. Its error is that of a run that does not go on after it.
func (c *Coordinator) measure(ctx context.Context, p loadgen.Point) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	level, err := c.point(ctx, p)
	for errors.Is(err, errNotBegun) && c.cfg.AllowLost && ctx.Err() == nil {
		level, err = c.point(ctx, p) // on those that are left
	}
	switch {
	case errors.Is(err, ErrInterrupted): // before it began
		return ErrInterrupted
	case errors.Is(err, errNotBegun):
		return c.lost()
	case err != nil:
		return fmt.Errorf("level of %d machines: %w", p.Machines, err)
	}
	if level.Row.Duration > 0 {
		if err := c.cfg.Sink(level); err != nil {
			return err
		}
	}
	if lost := c.lost(); lost != nil && !c.cfg.AllowLost {
		return lost
	}
	if ctx.Err() != nil && level.Row.Duration < c.cfg.Plan.Duration {
		return ErrInterrupted
	}
	return nil
}

// handKeys lets the coordinator and its agents speak with the bricks.
func (c *Coordinator) handKeys() (err error) {
	if c.bricks, err = remote.NewClient(c.cfg.Keys); err != nil || c.cfg.Keys == nil {
		return err
	}
	for _, a := range c.agents {
		_ = a.order(message.Order{Keys: c.cfg.Keys}) // one that is gone is missed when it is to get ready
	}
	return nil
}

// far reports whether what lies between here and the agents can be cut.
func (c *Coordinator) far() bool { return c.cfg.RoundTrip != nil }

// point measures one row.
func (c *Coordinator) point(ctx context.Context, p loadgen.Point) (result.Level, error) {
	began := time.Now()
	before, protection, err := c.prepare(ctx, p)
	if err != nil {
		return result.Level{}, err
	}
	g, err := newGathering(c, p, protection, before)
	if err != nil {
		return result.Level{}, err
	}
	if err := g.ready(); err != nil {
		return result.Level{}, err
	}
	if len(g.lost) > 0 {
		return result.Level{}, errors.Join(errNotBegun, g.giveUp())
	}
	if err := g.run(ctx); err != nil {
		return result.Level{}, err
	}
	if err := c.afterLoad(g); err != nil {
		return result.Level{}, err
	}
	return g.level(began)
}

func (c *Coordinator) warn(what string) {
	if c.cfg.Warn != nil {
		c.cfg.Warn(what)
	}
}

// specs shares a point's machines and its guests out between the agents that are left.
func (c *Coordinator) specs(p loadgen.Point) map[*agent]*message.Level {
	agents := c.live()
	specs := make(map[*agent]*message.Level)
	first := 0
	for i, n := range spread(p.Machines, agents) {
		specs[agents[i]] = c.spec(p, first, n)
		first += n
	}
	for _, g := range c.guests(p) {
		for i, n := range spread(g.Machines, agents) {
			g.Machines = n
			if n > 0 {
				s := specs[agents[i]]
				s.Guests = append(s.Guests, g)
			}
			g.First += n
		}
	}
	return specs
}

func (c *Coordinator) guests(p loadgen.Point) []loadgen.Guests {
	return loadgen.GuestsOf(c.cfg.Faults, p.Machines, c.cfg.Plan.Warmup, c.cfg.Plan.Duration)
}

func (c *Coordinator) spec(p loadgen.Point, first, machines int) *message.Level {
	plan := &c.cfg.Plan
	room := loadgen.AuditRoom(&c.cfg.Profile.Processor, plan.Bricks, plan.Size, plan.Timeout)
	silence := time.Duration(0)
	if c.far() {
		silence = silentWithin
	}
	return &message.Level{
		First: first, Machines: machines, Threads: plan.Threads, Size: plan.Size,
		Quorum:  session.Quorum{W: plan.W, WQ: plan.WQ, R: plan.R},
		Timeout: plan.Timeout, Policy: p.Policy, Users: c.cfg.Profile.Users,
		// Keys are told apart by run and point: a state of one level is never another's.
		Seed: p.Seed, Nonce: c.cfg.Nonce + uint64(p.Index),
		Join: joinWithin, Rate: plan.Rate / float64(p.Machines), Warmup: plan.Warmup,
		Seconds: int(plan.Duration / time.Second), Bricks: c.cfg.Bricks, Silence: silence,
		Room: max(1, room/len(c.live())), Audit: plan.AuditWithin(),
	}
}
