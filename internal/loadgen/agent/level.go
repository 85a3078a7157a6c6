package agent

import (
	"context"
	"crypto/tls"
	"runtime"
	"sync"
	"time"

	"github.com/ssmctl/ssmctl/internal/clock"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

const (
	meetWithin = 3 * time.Second // for all bricks to be met before a level
	pollEvery  = time.Millisecond
)

// level is the machines of one level.
type level struct {
	spec     message.Level
	tls      *tls.Config // nil is plaintext
	out      *message.Writer
	rec      *recorder
	machines []*machine
	cancel   context.CancelFunc
	steppers sync.WaitGroup
	began    time.Duration
	from     reading // when the warm-up was over; zero before
	till     reading // when the load stopped
}

func newLevel(spec message.Level, security *tls.Config, out *message.Writer) (*level, error) {
	policy, err := protect.PolicyByName(spec.Policy)
	if err != nil {
		return nil, err
	}
	ids := make([]session.BrickID, len(spec.Bricks))
	for i, b := range spec.Bricks {
		ids[i] = b.ID
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &level{
		spec: spec, tls: security, out: out, cancel: cancel,
		rec: &recorder{core: loadgen.NewRecorder(spec.Warmup, spec.Seconds, spec.First, spec.Machines)},
	}
	cfg := loadgen.MachineConfig{
		Threads: spec.Threads, Size: spec.Size, Users: spec.Users,
		Seed: spec.Seed, Nonce: spec.Nonce, Join: spec.Join, Rate: spec.Rate,
		Stub: stub.Config{
			Quorum: spec.Quorum, Timeout: spec.Timeout, TTL: spec.Users.Expiry, Policy: policy, Bricks: ids,
		},
	}
	l.add(ctx, cfg, spec.First, spec.Machines)
	for _, g := range spec.Guests {
		cfg.Begin, cfg.End = g.Begin, g.End
		l.add(ctx, cfg, g.First, g.Machines)
	}
	return l, nil
}

// add makes machines that are alike but for their numbers, and connects them.
func (l *level) add(ctx context.Context, cfg loadgen.MachineConfig, first, machines int) {
	for i := range machines {
		cfg.ID = first + i
		m := newMachine(cfg, l.rec, l.moved)
		m.connect(l.spec.Bricks, l.tls)
		l.machines = append(l.machines, m)
		l.steppers.Go(func() { m.run(ctx) })
	}
}

func (l *level) close() {
	l.cancel()
	l.steppers.Wait()
	for _, m := range l.machines {
		m.close()
	}
}

// moved reports that a brick went or came back, as one machine in this process saw it.
func (l *level) moved(id session.BrickID, up bool) {
	second := (clock.Now() - l.began - l.spec.Warmup).Seconds()
	// A coordinator that is gone is noticed by the reader of orders.
	_ = l.out.Write(message.Report{Brick: &message.Brick{ID: id, Up: up, Second: second}})
}

// poll calls f every millisecond until it is true, ctx ends or the time is over.
func poll(ctx context.Context, within time.Duration, f func() bool) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for deadline := clock.Now() + within; !f() && clock.Now() < deadline; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// meet waits until every machine has met every brick, and returns how many bricks
// the least lucky machine has met when it gave up waiting.
func (l *level) meet(ctx context.Context) int {
	met := 0
	poll(ctx, meetWithin, func() bool {
		met = len(l.spec.Bricks)
		for _, m := range l.machines {
			m.read(func(core *loadgen.Machine) { met = min(met, core.Reachable()) })
		}
		return met == len(l.spec.Bricks)
	})
	return met
}

func (l *level) start() {
	l.began = clock.Now()
	l.rec.use(func(r *loadgen.Recorder) { r.Start(l.began) })
	for _, m := range l.machines {
		m.start()
	}
}

func (l *level) length() time.Duration {
	return l.spec.Warmup + time.Duration(l.spec.Seconds)*time.Second
}

// ship reports the seconds that have ended.
func (l *level) ship() error {
	now := clock.Now()
	var cut []loadgen.Interval
	var err error
	l.rec.use(func(r *loadgen.Recorder) { cut, err = r.Cut(now) })
	if err != nil || len(cut) == 0 {
		return err
	}
	return l.out.Write(message.Report{Interval: cut})
}

// halt stops the users, waits for what is in flight, and ships the rest.
func (l *level) halt(ctx context.Context) error {
	l.till = l.take()
	poll(ctx, l.spec.Timeout+time.Second, func() bool {
		idle := true
		for _, m := range l.machines {
			idle = m.stop() && idle
		}
		return idle
	})
	return l.ship()
}

// audit reads back what the users have written and what has not expired.
func (l *level) audit(ctx context.Context) {
	for _, m := range l.machines {
		m.beginAudit()
	}
	turns := loadgen.NewAuditTurns(len(l.machines), l.spec.Room)
	state := func(i int) (asking int, more bool) {
		l.machines[i].read(func(core *loadgen.Machine) { asking, more = core.Auditing() })
		return asking, more
	}
	ask := func(i int) bool { return l.machines[i].stepAudit() }
	poll(ctx, l.spec.Audit, func() bool { return !turns.Step(state, ask) })
}

// done sums the level up, from the end of the warm-up on.
func (l *level) done() *message.Done {
	d := &message.Done{Cores: runtime.NumCPU(), HostIdle: -1}
	l.rec.use(func(r *loadgen.Recorder) {
		d.PerMachine, d.LagP99, d.LagWorst = r.PerMachine(), r.LagAt(0.99), r.LagAt(1)
	})
	if l.from.at > 0 && l.till.at > l.from.at {
		d.CPU = float64(l.till.own-l.from.own) / float64(l.till.at-l.from.at)
		if total := l.till.host.total - l.from.host.total; total > 0 {
			d.HostIdle = float64(l.till.host.idle-l.from.host.idle) / float64(total)
		}
		// What was written at the very end is acknowledged by now.
		end := l.take().copies
		from := &l.from.copies
		d.Begun, d.Sent = end.Begun-from.Begun, end.Sent-from.Sent
		d.Writes, d.Acked = end.Writes-from.Writes, end.Acked-from.Acked
	}
	for _, m := range l.machines {
		m.read(func(core *loadgen.Machine) { d.Audit.Add(core.Audit()) })
	}
	return d
}
