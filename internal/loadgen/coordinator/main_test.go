package coordinator_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/agent"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/wire"
)

// plain speaks plaintext.
var plain remote.Client

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests; none takes nearly as long.
const patience = 60 * time.Second

// quick is fast and emulated bricks, and users that ask often.
var quick = profile.Profile{
	Name:      "quick",
	Processor: profile.Processor{Kind: profile.Emulated, Put: 100 * time.Microsecond, Get: 100 * time.Microsecond},
	Users:     profile.Users{Own: 5 * time.Millisecond, OwnJitter: 0.5, Turn: 5 * time.Millisecond, Expiry: time.Minute},
}

// plan measures these levels, a second of warm-up and two seconds each.
func plan(machines ...int) result.Plan {
	return result.Plan{
		Machines: machines, Policies: []string{protect.DefaultPolicy}, Threads: 3,
		Duration: 2 * time.Second, Warmup: time.Second, Timeout: 5 * time.Second,
		W: 3, WQ: 2, R: 1, Size: 100, Seed: 1,
	}
}

// embedded starts n bricks with a protection.
func embedded(t *testing.T, n int, s protect.Setting) []remote.Brick {
	t.Helper()
	c, err := fleet.Embedded(n, quick, s, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c.Bricks()
}

// vanish makes a brick one at whose address nothing listens.
func vanish(t *testing.T, b *remote.Brick) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.Addr = ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
}

// setAll switches the protection of all bricks.
func setAll(t *testing.T, bricks []remote.Brick, s protect.Setting) {
	t.Helper()
	_, errs := remote.All(t.Context(), bricks, func(ctx context.Context, b remote.Brick) (wire.Heartbeat, error) {
		return plain.Protect(ctx, b, s)
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// wantSettings checks the protection that bricks have now.
func wantSettings(t *testing.T, bricks []remote.Brick, want ...protect.Setting) {
	t.Helper()
	for i, b := range bricks {
		if h, err := plain.Status(t.Context(), b); err != nil || h.Setting != want[i] {
			t.Errorf("%s is %s, want %s, error %v", b.ID, h.Setting, want[i], err)
		}
	}
}

// part is an agent inside the test's process.
type part struct {
	end  context.CancelFunc
	in   *io.PipeWriter
	out  *io.PipeReader
	done sync.WaitGroup
}

// start lets run play an agent until it returns, which closes its streams as the end of
// a process does.
func start(t *testing.T, run func(ctx context.Context, in io.Reader, out io.Writer) error) *part {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	in, orders := io.Pipe()
	reports, out := io.Pipe()
	p := &part{end: end, in: orders, out: reports}
	p.done.Go(func() {
		_ = run(ctx, in, out) // what an agent fails of it has said
		_ = in.Close()        // of a pipe, it never fails
		_ = out.Close()
	})
	t.Cleanup(func() {
		_ = orders.Close()
		_ = reports.Close()
		end()
		p.done.Wait()
	})
	return p
}

// script is an agent that does nothing but answer.
type script struct {
	reachable int              // bricks, it says
	reports   []message.Report // of every level
	levels    chan<- message.Level
	away      time.Duration        // for which a ping is on its way
	starts    chan<- time.Duration // the delays that it was given; may be nil
}

// scripted is an agent that reaches so many bricks and reports this of its levels.
func scripted(reachable int, reports ...message.Report) func(context.Context, io.Reader, io.Writer) error {
	return script{reachable: reachable, reports: reports, levels: make(chan message.Level, 100)}.play
}

func (s script) play(_ context.Context, in io.Reader, out io.Writer) error {
	w := message.NewWriter(out)
	for {
		var o message.Order
		if err := message.Read(in, &o); err != nil {
			return err
		}
		var answers []message.Report
		switch {
		case o.Level != nil:
			s.levels <- *o.Level
			answers = []message.Report{{Ready: &message.Ready{Reachable: s.reachable}}}
		case o.Start != nil:
			if s.starts != nil {
				s.starts <- *o.Start
			}
			answers = append(slices.Clone(s.reports), message.Report{Ended: true})
		case o.Stop:
			answers = []message.Report{{Ended: true}}
		case o.Ping != 0:
			time.Sleep(s.away)
			answers = []message.Report{{Pong: o.Ping}}
		case o.Audit:
			answers = []message.Report{{Done: &message.Done{}}}
		}
		for _, r := range answers {
			if err := w.Write(r); err != nil {
				return err
			}
		}
	}
}

// run is a run in the test's hands.
type run struct {
	t        *testing.T
	cfg      coordinator.Config
	parts    []*part
	levels   []result.Level
	events   []result.Event
	warnings []string
	seconds  []result.Second // as told by Progress
	each     func(result.Second)
}

// prepare takes these agents for a run, the first on host a, the next on host b.
func prepare(t *testing.T, p result.Plan, bricks []remote.Brick, agents ...func(context.Context, io.Reader, io.Writer) error) *run {
	t.Helper()
	r := &run{t: t, each: func(result.Second) {}}
	p.Bricks = len(bricks)
	r.cfg = coordinator.Config{
		Plan: p, Profile: quick, Run: "test", Nonce: 1, Bricks: bricks,
		Sink:     func(l result.Level) error { r.levels = append(r.levels, l); return nil },
		Event:    func(e result.Event) error { r.events = append(r.events, e); return nil },
		Warn:     func(what string) { r.warnings = append(r.warnings, what) },
		Progress: func(_ loadgen.Point, s result.Second) { r.seconds = append(r.seconds, s); r.each(s) },
	}
	for i, a := range agents {
		part := start(t, a)
		r.parts = append(r.parts, part)
		r.cfg.Agents = append(r.cfg.Agents, coordinator.Agent{Host: string(rune('a' + i)), In: part.in, Out: part.out})
	}
	return r
}

// prepareTwo takes two real agents.
func prepareTwo(t *testing.T, p result.Plan, bricks []remote.Brick) *run {
	t.Helper()
	return prepare(t, p, bricks, agent.Run, agent.Run)
}

// measure runs the plan to its end.
func (r *run) measure(ctx context.Context) error {
	r.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- coordinator.New(r.cfg).Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		r.t.Fatal("the run does not end")
		return nil
	}
}

// must runs the plan and checks that so many levels came out, without a warning.
func (r *run) must(levels int) {
	r.t.Helper()
	if err := r.measure(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	if len(r.levels) != levels || len(r.warnings) > 0 {
		r.t.Fatalf("%d levels, want %d; warnings %q", len(r.levels), levels, r.warnings)
	}
}
