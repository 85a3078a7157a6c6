package coordinator_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/agent"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// What was measured before the interruption is kept, nothing is begun after it, and the
// bricks are put right.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 3, protect.Off)
	p := plan(2, 3)
	p.Duration, p.Protection = time.Hour, []string{"on"}
	ctx, interrupt := context.WithCancel(t.Context())
	r := prepareTwo(t, p, bricks)
	r.each = func(s result.Second) {
		if s.Second == 0 {
			interrupt()
		}
	}
	if err := r.measure(ctx); !errors.Is(err, coordinator.ErrInterrupted) {
		t.Errorf("Run: %v", err)
	}
	if len(r.levels) != 1 {
		t.Fatalf("%d levels", len(r.levels))
	}
	consistent(t, &r.levels[0], 2)
	if d := r.levels[0].Row.Duration; d < time.Second || d > patience {
		t.Errorf("measured for %v", d)
	}
	wantSettings(t, bricks, protect.Off, protect.Off, protect.Off)
}

// An interruption before anything is measured leaves nothing, and is not taken for the
// absence of bricks.
func TestInterruptedEarly(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	mute := remote.Brick{ID: 1, Addr: silent.Addr().String()}
	for name, bricks := range map[string][]remote.Brick{
		"before the run":       embedded(t, 3, protect.On),
		"while bricks are met": {mute, mute, mute},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		r := prepareTwo(t, plan(2), bricks)
		if name == "before the run" {
			interrupt()
		} else {
			time.AfterFunc(10*time.Millisecond, interrupt)
		}
		if err := r.measure(ctx); !errors.Is(err, coordinator.ErrInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
		if len(r.levels) > 0 {
			t.Errorf("%s: %d levels", name, len(r.levels))
		}
	}
}

func TestDisagreement(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 3, protect.On)
	setAll(t, bricks[1:2], protect.DiscardOnly)
	r := prepareTwo(t, plan(2), bricks)
	err := r.measure(t.Context())
	var disagree *coordinator.DisagreementError
	if !errors.As(err, &disagree) {
		t.Fatalf("Run: %v", err)
	}
	if on, discard := disagree.Settings["on"], disagree.Settings["discard"]; len(on) != 2 || len(discard) != 1 || discard[0] != 2 {
		t.Errorf("settings: %v", disagree.Settings)
	}
	if want := "on on brick-1, brick-3; discard on brick-2"; !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
	if len(r.levels) > 0 {
		t.Errorf("%d levels", len(r.levels))
	}
}

// A run that sets the protection makes bricks agree, and gives each its own back.
func TestDisagreementOverruled(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 3, protect.On)
	setAll(t, bricks[1:2], protect.DiscardOnly)
	p := plan(2)
	p.Duration, p.Warmup, p.Protection = time.Second, 0, []string{"off"}
	r := prepareTwo(t, p, bricks)
	r.must(1)
	if got := r.levels[0].Row.Protection; got != "off" {
		t.Errorf("protection %s", got)
	}
	wantSettings(t, bricks, protect.On, protect.DiscardOnly, protect.On)
}

func TestTooFewBricks(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 4, protect.On)
	vanish(t, &bricks[1])
	vanish(t, &bricks[3])
	r := prepareTwo(t, plan(2), bricks)
	err := r.measure(t.Context())
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"2 of 4 bricks answer, a write needs 3", "brick-2 at " + bricks[1].Addr, "brick-4 at " + bricks[3].Addr, "refused",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// agentLost checks that an error names the agent, and says this.
func agentLost(t *testing.T, err error, host, says string) {
	t.Helper()
	var lost *coordinator.AgentError
	if !errors.As(err, &lost) || lost.Host != host || !strings.Contains(err.Error(), says) {
		t.Errorf("Run: %v, want the loss of the agent on %s: %s", err, host, says)
	}
}

// An agent that was dead before is found out as one that dies.
func TestAgentDead(t *testing.T) {
	t.Parallel()
	r := prepareTwo(t, plan(2), embedded(t, 3, protect.On))
	r.parts[0].end()
	r.parts[0].done.Wait()
	agentLost(t, r.measure(t.Context()), "a", "")
}

func TestAgentFails(t *testing.T) {
	t.Parallel()
	p := plan(1)
	p.Policies = []string{"hope"}
	r := prepare(t, p, embedded(t, 3, protect.On), agent.Run)
	agentLost(t, r.measure(t.Context()), "a", `"hope" is not a policy`)
}

// What an agent cannot have measured is not merged.
func TestAgentLies(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 3, protect.On)
	broken := loadgen.Interval{Latency: []result.Encoded{{Op: session.Read, Data: []byte("no histogram")}}}
	for name, reports := range map[string][]message.Report{
		"a second twice":    {{Interval: []loadgen.Interval{{Second: 1}, {Second: 1}}}},
		"a broken latency":  {{Interval: []loadgen.Interval{broken}}},
		"and in two frames": {{Interval: []loadgen.Interval{{}}}, {Interval: []loadgen.Interval{{}}}},
	} {
		r := prepare(t, plan(1), bricks, scripted(3, reports...))
		err := r.measure(t.Context())
		var lost *coordinator.AgentError
		if !errors.As(err, &lost) || lost.Host != "a" {
			t.Errorf("%s: %v, want an AgentError", name, err)
		}
	}
}

// A second that not every agent has told, and one after the last, are in no figure of
// the level.
func TestSecondsThatAreNotWhole(t *testing.T) {
	t.Parallel()
	h := result.NewHistograms()
	h.Record(session.Read, session.OK, time.Millisecond)
	latency, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	tell := func(second int) message.Report {
		return message.Report{Interval: []loadgen.Interval{{
			Second: second, Count: [session.NumOutcomes]uint64{session.OK: 1}, Protection: "on", Latency: latency,
		}}}
	}
	r := prepare(t, plan(2), embedded(t, 3, protect.On), scripted(3, tell(0), tell(1), tell(2)), scripted(3, tell(0), tell(2)))
	r.must(1)
	l := &r.levels[0]
	if n := l.Histograms.Count(session.Read, session.OK); n != 2 || l.Row.Rates[session.OK] != 2 || l.Row.Duration != time.Second {
		t.Errorf("%d latencies, row: %+v", n, l.Row)
	}
	if len(l.Seconds) != 1 || len(r.seconds) != 1 || l.Seconds[0].Second != 0 {
		t.Errorf("series %+v, progress %+v", l.Seconds, r.seconds)
	}
}

// The coordinator reaches bricks that an agent does not.
func TestAgentReachesTooFew(t *testing.T) {
	t.Parallel()
	r := prepare(t, plan(2), embedded(t, 3, protect.On), scripted(3), scripted(2))
	if err := r.measure(t.Context()); err == nil || !strings.Contains(err.Error(), "reached 2 bricks of 3") {
		t.Errorf("Run: %v", err)
	}
}

// Machines that lose the same brick do so at about the same time: that is one event.
func TestBrickMoves(t *testing.T) {
	t.Parallel()
	tell := func(up bool, seconds ...float64) (rs []message.Report) {
		for _, s := range seconds {
			rs = append(rs, message.Report{Brick: &message.Brick{ID: 2, Up: up, Second: s}})
		}
		return rs
	}
	reports := tell(false, 0.49, 0.51)
	reports = append(reports, tell(true, 0.6, 1.1)...)
	reports = append(reports, tell(false, 1.7)...)
	reports = append(reports, message.Report{Interval: []loadgen.Interval{{Protection: "on"}}})
	r := prepare(t, plan(1), embedded(t, 3, protect.On), scripted(3, reports...))
	r.must(1)
	want := []string{"brick-down brick-2 at second 0.5", "brick-up brick-2 at second 0.6", "brick-down brick-2 at second 1.7"}
	if got := r.levels[0].Row.Notes; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("notes %q, want %q", got, want)
	}
	if len(r.events) != 3 || r.events[1].Kind != "brick-up" || r.events[1].Who != "brick-2" || r.events[1].Second != 0.6 {
		t.Errorf("events: %+v", r.events)
	}
}

// A run whose levels cannot be kept does not go on.
func TestSinkFails(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	bricks := embedded(t, 3, protect.Off)
	p := plan(1, 1)
	p.Protection = []string{"on"}
	r := prepare(t, p, bricks, scripted(3, message.Report{Interval: []loadgen.Interval{{Protection: "on"}}}))
	sunk := 0
	r.cfg.Sink = func(result.Level) error { sunk++; return full }
	if err := r.measure(t.Context()); !errors.Is(err, full) || sunk != 1 {
		t.Errorf("Run: %v after %d levels", err, sunk)
	}
	wantSettings(t, bricks, protect.Off, protect.Off, protect.Off)
}
