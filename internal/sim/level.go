package sim

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// A level ends like a live one: the users stop, what is in flight has graceTime beyond
// the time-out to end, the bricks' inboxes are emptied, and what users wrote is read back.
const (
	joinWithin = time.Second // the users of a level begin within it
	graceTime  = time.Second
	auditEvery = time.Millisecond
)

// The streams of a level's seed; the machines use streams of their own.
const (
	networkStream = 3
	brickStream   = 4
)

// Config is what all levels of a plan share.
type Config struct {
	Plan    result.Plan // with its bricks; no protection means on
	Profile profile.Profile
	Network *Network // nil is the profile's
	Run     string   // its name
	Faults  []chaos.Fault
	Changes []Change
	Watch   bool // the bricks are watched, and restarted when they are at fault

	Memory     int64   // bound of a brick's states, in bytes; 0 is brick.DefaultMemory
	InboxBytes int64   // bound of a brick's inbox; 0 is brick.DefaultInboxBytes
	Witness    Witness // is shown what happens; nil is nobody
}

// level is one point of a plan while it is simulated.
type level struct {
	cfg        *Config
	point      loadgen.Point
	protection string
	engine     *engine
	rec        *loadgen.Recorder
	warm       result.Copies // at the end of the warm-up
	audit      loadgen.Audit

	memory, inbox int64 // bounds of each brick, in bytes
}

// punctual is a recorder that is told of no lag: in virtual time nothing comes late.
type punctual struct{ *loadgen.Recorder }

func (punctual) Lag(_, _ time.Duration) {}

// Level simulates one point of a plan. It depends on nothing but its arguments, and
// gives up only when ctx ends.
func Level(ctx context.Context, cfg *Config, p loadgen.Point) (result.Level, error) {
	l, err := newLevel(ctx.Err, cfg, p)
	if ctx.Err() != nil {
		return result.Level{}, ctx.Err()
	}
	if err != nil {
		return result.Level{}, fmt.Errorf("simulate %d machines: %w", p.Machines, err)
	}
	if err := l.run(); err != nil {
		return result.Level{}, err
	}
	return l.result()
}

// newLevel makes a level at its start. It looks at givenUp, as the level will later; nil is never.
func newLevel(givenUp func() error, cfg *Config, p loadgen.Point) (*level, error) {
	l := &level{cfg: cfg, point: p, protection: p.Protection}
	if l.protection == "" {
		l.protection = protect.On.String() // what embedded bricks of a live run start with
	}
	setting, err := protect.ParseSetting(l.protection)
	if err != nil {
		return nil, err
	}
	policy, err := protect.PolicyByName(p.Policy)
	if err != nil {
		return nil, err
	}
	if err := chaos.Check(cfg.Faults, cfg.Plan.Bricks, cfg.Plan.Duration); err != nil {
		return nil, err
	}
	l.rec = loadgen.NewRecorder(cfg.Plan.Warmup, int(cfg.Plan.Duration/time.Second), 0, p.Machines)
	l.rec.KeepTotals()
	e := &engine{now: epoch, size: cfg.Plan.Size, rng: rand.New(rand.NewPCG(p.Seed, networkStream)), givenUp: givenUp}
	e.events = newEvents(spanOf((p.Machines + chaos.Surges(cfg.Faults)) * cfg.Plan.Threads))
	e.network = Network{OneWay: cfg.Profile.Network.OneWay}
	if cfg.Network != nil {
		e.network = *cfg.Network
	}
	l.engine = e
	e.witness = cfg.Witness
	l.makeBricks(setting)
	if err := l.makeMachines(policy); err != nil {
		return nil, err
	}
	zero := epoch + cfg.Plan.Warmup
	e.planFaults(cfg.Faults, zero, zero+cfg.Plan.Duration)
	e.planChanges(cfg.Changes, zero)
	e.planHeartbeats()
	e.planGuard(cfg.Watch, zero+cfg.Plan.Duration)
	l.rec.Start(e.now)
	l.beginWatch()
	for i := range e.bricks {
		e.bricks[i].queue.Stubs(len(e.machines))
	}
	return l, l.begin(setting)
}

// begin lets the machines meet the bricks, and their users start.
func (l *level) begin(setting protect.Setting) error {
	e := l.engine
	for i := range e.machines {
		if err := e.abandoned(); err != nil {
			return err
		}
		m := &e.machines[i]
		for id := range e.bricks {
			e.saw(Met, m.index, uint32(id))
			m.core.Up(e.now, session.BrickID(id+1), setting)
		}
		m.core.Start(e.now)
		e.arm(m, m.core.Next())
	}
	return nil
}

// spanOf chooses the slots of the event queue: a user is good for some hundred events a
// second, one in 2^23 ns, so a slot has about one. They are not so short that a turn of the wheel
// is less than a millisecond.
func spanOf(users int) uint { return uint(max(7, 23-bits.Len(uint(users)))) }

// makeBricks makes bricks that hold no more of a state than its stamp. What its bytes
// cost is folded into the cost of an operation, and what they weigh into the bounds.
func (l *level) makeBricks(setting protect.Setting) {
	size := l.cfg.Plan.Size
	model := l.cfg.Profile.Processor
	model.Put, model.Get, model.PerKiB = model.Mean(false, size), model.Mean(true, size), 0
	scale := func(bound, overhead int64) int64 {
		scaled := bound * (loadgen.MinSize + overhead) / (int64(size) + overhead)
		return max(scaled, min(bound, 1)) // a bound of zero is none to those who take it
	}
	l.memory = scale(cmp.Or(l.cfg.Memory, brick.DefaultMemory), brick.StateOverhead)
	l.inbox = scale(cmp.Or(l.cfg.InboxBytes, brick.DefaultInboxBytes), brick.OpOverhead)
	l.engine.faults = faults{
		setting: setting, memory: l.memory, seed: l.point.Seed,
		scale: func(bytes int64) int64 { return scale(bytes, brick.StateOverhead) },
	}
	l.engine.bricks = make([]node, l.cfg.Plan.Bricks)
	for i, seed := range brickSeeds(l.point, len(l.engine.bricks)) {
		store := brick.NewStore(l.memory)
		l.engine.bricks[i] = node{store: store, queue: brick.NewQueue(model, setting, int(l.inbox), store, seed)}
	}
}

// brickSeeds are those of the bricks' jitter: they differ from level to level, and are the
// same for all settings of one, so that settings differ in nothing else.
func brickSeeds(p loadgen.Point, bricks int) []uint64 {
	rng := rand.NewPCG(p.Seed, brickStream)
	seeds := make([]uint64, bricks)
	for i := range seeds {
		seeds[i] = rng.Uint64()
	}
	return seeds
}

func (l *level) makeMachines(policy protect.Policy) error {
	plan, users := &l.cfg.Plan, l.cfg.Profile.Users
	ids := make([]session.BrickID, plan.Bricks)
	for i := range ids {
		ids[i] = session.BrickID(i + 1)
	}
	cfg := loadgen.MachineConfig{
		Threads: plan.Threads, Size: loadgen.MinSize, Users: users,
		Seed: l.point.Seed, Nonce: l.point.Seed, Join: joinWithin, Rate: plan.Rate / float64(l.point.Machines),
		Stub: stub.Config{
			Quorum:  session.Quorum{W: plan.W, WQ: plan.WQ, R: plan.R},
			Timeout: plan.Timeout, TTL: users.Expiry, Policy: policy, Bricks: ids,
		},
	}
	l.engine.machines = make([]machine, l.point.Machines+chaos.Surges(l.cfg.Faults))
	if err := l.addMachines(cfg, 0, l.point.Machines); err != nil {
		return err
	}
	for _, g := range l.guests() {
		cfg.Begin, cfg.End = g.Begin, g.End
		if err := l.addMachines(cfg, g.First, g.Machines); err != nil {
			return err
		}
	}
	return nil
}

// addMachines makes machines that are alike but for their numbers.
func (l *level) addMachines(cfg loadgen.MachineConfig, first, machines int) error {
	for i := first; i < first+machines; i++ {
		if err := l.engine.abandoned(); err != nil {
			return err
		}
		m := &l.engine.machines[i]
		*m = machine{e: l.engine, index: uint32(i)}
		cfg.ID, cfg.Watch = i, l.engine.watch()
		m.core = loadgen.NewMachine(cfg, m, punctual{l.rec})
	}
	return nil
}

func (l *level) guests() []loadgen.Guests {
	return loadgen.GuestsOf(l.cfg.Faults, l.point.Machines, l.cfg.Plan.Warmup, l.cfg.Plan.Duration)
}

// run plays the level to its end. It gives up when the engine does, and returns why.
func (l *level) run() error {
	e, plan := l.engine, &l.cfg.Plan
	end := epoch + plan.Warmup + plan.Duration
	for at := epoch; at < end; {
		at += time.Second
		if e.run(at); e.abandoned() != nil {
			return e.abandoned()
		}
		if at == epoch+plan.Warmup {
			l.warm = l.copies()
		}
	}
	e.saw(UsersStop, 0, 0)
	for i := range e.machines {
		e.machines[i].core.Stop()
	}
	if e.run(e.now + plan.Timeout + graceTime); e.abandoned() == nil {
		l.readBack()
	}
	return e.abandoned()
}

// readBack lets the users read from bricks that have nothing else to do what they wrote and
// what has not expired.
func (l *level) readBack() {
	e := l.engine
	for i := range e.bricks {
		n := &e.bricks[i]
		n.queue.Reset(func(op brick.Op) { e.messages.give(op.From) })
		n.armed = 0
	}
	e.saw(InboxesEmpty, 0, 0)
	for i := range e.machines {
		e.machines[i].core.BeginAudit(e.now)
	}
	plan := &l.cfg.Plan
	turns := loadgen.NewAuditTurns(len(e.machines), loadgen.AuditRoom(&l.cfg.Profile.Processor, plan.Bricks, plan.Size, plan.Timeout))
	state := func(i int) (int, bool) { return e.machines[i].core.Auditing() }
	ask := func(i int) bool {
		m := &e.machines[i]
		asked := m.core.StepAudit(e.now)
		e.arm(m, m.core.Next())
		e.saw(Settled, m.index, 0)
		return asked
	}
	for till := e.now + plan.AuditWithin(); turns.Step(state, ask) && e.now < till; {
		if e.run(e.now + auditEvery); e.abandoned() != nil {
			return
		}
	}
	for i := range e.machines {
		l.audit.Add(e.machines[i].core.Audit())
	}
	e.saw(Over, 0, 0)
}

// copies sums up what the acknowledged writes so far have cost.
func (l *level) copies() (all result.Copies) {
	for i := range l.engine.machines {
		c := l.engine.machines[i].core.Copies()
		all.Writes += c.Writes
		all.Begun += c.Begun
		all.Sent += c.Sent
		all.Acked += c.Acked
	}
	return all
}
