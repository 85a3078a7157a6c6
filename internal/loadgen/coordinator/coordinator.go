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
	Agents  []Agent
	Skip    int           // points of the plan that a resumed run has
	Faults  []chaos.Fault // of the plan; surges are all that a live run knows
	// Sink takes each level when it ends; it must be set, and its error ends the run.
	Sink func(result.Level) error
	// Event takes what happens beside the figures; it must be set.
	Event func(result.Event) error
	// Warn is told of what the user should know and the run survives.
	Warn func(string)
	// Progress is told of every second of a level as it is merged.
	Progress func(loadgen.Point, result.Second)
}

// ErrInterrupted ends a run whose context was cancelled: what was measured has
// gone to the sink.
var ErrInterrupted = errors.New("interrupted")

// joinWithin is the time within which the users of a level begin, one by one.
const joinWithin = time.Second

// Coordinator runs one plan.
type Coordinator struct {
	cfg     Config
	agents  []*agent
	reports chan report
}

// New takes over the agents. They must be ready for their first order.
func New(cfg Config) *Coordinator {
	c := &Coordinator{cfg: cfg, reports: make(chan report)}
	for i, a := range cfg.Agents {
		c.agents = append(c.agents, &agent{index: i, host: a.Host, orders: message.NewWriter(a.In), in: a.Out})
	}
	return c
}

// Run measures every point of the plan. When ctx is cancelled the level under way
// is stopped, goes to the sink with the seconds that it has, and Run returns ErrInterrupted.
// Bricks whose protection was changed get the old one back.
func (c *Coordinator) Run(ctx context.Context) error {
	done := make(chan struct{})
	defer close(done)
	for _, a := range c.agents {
		go a.listen(c.reports, done)
	}
	restore, err := c.rememberProtection(ctx)
	if err != nil {
		return err
	}
	defer restore()
	for _, p := range loadgen.Points(&c.cfg.Plan)[c.cfg.Skip:] {
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		level, err := c.point(ctx, p)
		switch {
		case errors.Is(err, ErrInterrupted): // before it began
			return ErrInterrupted
		case err != nil:
			return fmt.Errorf("level of %d machines: %w", p.Machines, err)
		}
		if level.Row.Duration > 0 {
			if err := c.cfg.Sink(level); err != nil {
				return err
			}
		}
		if ctx.Err() != nil && level.Row.Duration < c.cfg.Plan.Duration {
			return ErrInterrupted
		}
	}
	return nil
}

// point measures one row.
func (c *Coordinator) point(ctx context.Context, p loadgen.Point) (result.Level, error) {
	began := time.Now()
	before, protection, err := c.prepare(ctx, p)
	if err != nil {
		return result.Level{}, err
	}
	g := newGathering(c, p, protection, before)
	specs := c.specs(p)
	for i, a := range c.agents {
		if err := a.order(message.Order{Level: specs[i]}); err != nil {
			return result.Level{}, err
		}
	}
	if err := g.awaitReady(); err != nil {
		return result.Level{}, err
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

// split shares n machines out evenly.
func split(n, agents int) []int {
	shares := make([]int, agents)
	for i := range shares {
		shares[i] = n / agents
		if i < n%agents {
			shares[i]++
		}
	}
	return shares
}

// specs shares a point's machines and its guests out between the agents.
func (c *Coordinator) specs(p loadgen.Point) []*message.Level {
	specs := make([]*message.Level, len(c.agents))
	first := 0
	for i, n := range split(p.Machines, len(specs)) {
		specs[i] = c.spec(p, first, n)
		first += n
	}
	for _, g := range c.guests(p) {
		for i, n := range split(g.Machines, len(specs)) {
			g.Machines = n
			if n > 0 {
				specs[i].Guests = append(specs[i].Guests, g)
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
	return &message.Level{
		First: first, Machines: machines, Threads: plan.Threads, Size: plan.Size,
		Quorum:  session.Quorum{W: plan.W, WQ: plan.WQ, R: plan.R},
		Timeout: plan.Timeout, Policy: p.Policy, Users: c.cfg.Profile.Users,
		// Keys are told apart by run and point: a state of one level is never another's.
		Seed: p.Seed, Nonce: c.cfg.Nonce + uint64(p.Index),
		Join: joinWithin, Rate: plan.Rate / float64(p.Machines), Warmup: plan.Warmup,
		Seconds: int(plan.Duration / time.Second), Bricks: c.cfg.Bricks,
	}
}

// agent is the coordinator's end of an agent.
type agent struct {
	index  int
	host   string
	orders *message.Writer
	in     io.Reader
}

// report is a frame of an agent, or the error that ended its stream.
type report struct {
	from *agent
	message.Report
	err error
}

func (a *agent) listen(to chan<- report, done <-chan struct{}) {
	for {
		r := report{from: a}
		r.err = message.Read(a.in, &r.Report)
		select {
		case to <- r:
		case <-done:
			return
		}
		if r.err != nil {
			return
		}
	}
}

func (a *agent) order(o message.Order) error {
	if err := a.orders.Write(o); err != nil {
		return &AgentError{Host: a.host, Err: err}
	}
	return nil
}

// AgentError is the loss of an agent.
type AgentError struct {
	Host string
	Err  error
}

func (e *AgentError) Error() string {
	return fmt.Sprintf("the load agent on %s is lost: %v", e.Host, e.Err)
}

// Unwrap returns the cause.
func (e *AgentError) Unwrap() error { return e.Err }
