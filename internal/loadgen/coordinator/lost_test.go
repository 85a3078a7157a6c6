package coordinator_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/agent"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// dying is a run of two levels, 4 machines on hosts a and b, of which b is lost in second 1
// of the first level.
func dying(t *testing.T) *run {
	t.Helper()
	p := plan(4, 5)
	p.Duration, p.Protection = 4*time.Second, []string{"on"}
	r := prepareTwo(t, p, embedded(t, 3, protect.Off))
	r.each = func(s result.Second) {
		if s.Level == 0 && s.Second == 1 {
			r.parts[1].end()
		}
	}
	return r
}

// marked checks the level in which b was lost: what a measured and what b had told is there.
func marked(t *testing.T, l *result.Level) {
	t.Helper()
	row := &l.Row
	if row.Duration != 4*time.Second || row.Goodput() <= 0 || row.Machines != 4 {
		t.Errorf("row %+v", row)
	}
	if !slices.Equal(row.LostHosts, []string{"b"}) || row.GeneratorOK.OK || !row.Weak() {
		t.Errorf("lost %q, generator %+v", row.LostHosts, row.GeneratorOK)
	}
	if why := row.GeneratorOK.Why; !strings.Contains(why, "b was lost at second") || !strings.Contains(why, "2 of 4 machines") || strings.Contains(why, "cycle") {
		t.Errorf("why %q", why)
	}
	if a, b := len(l.PerHost["a"]), len(l.PerHost["b"]); a != 5 || b < 3 || b == 5 {
		t.Errorf("%d seconds of a, %d of b", a, b)
	}
	if n := outcomes(l.Seconds)[session.OK]; n != l.Histograms.Count(session.Write, session.OK)+l.Histograms.Count(session.Read, session.OK) {
		t.Errorf("%d in the series, another number in the histograms", n)
	}
}

// The level in which an agent dies is kept and marked, and the next one is not begun.
func TestAgentDies(t *testing.T) {
	t.Parallel()
	r := dying(t)
	err := r.measure(t.Context())
	agentLost(t, err, "b", "it ended")
	var lost *coordinator.LostError
	if !errors.As(err, &lost) || len(lost.Lost) != 1 {
		t.Errorf("error %v", err)
	}
	if len(r.levels) != 1 {
		t.Fatalf("%d levels", len(r.levels))
	}
	marked(t, &r.levels[0])
	i := slices.IndexFunc(r.events, func(e result.Event) bool { return e.Kind == "agent-lost" })
	if i < 0 || r.events[i].Who != "b" || r.events[i].Level != 0 || r.events[i].Second < 1 {
		t.Errorf("events %+v", r.events)
	}
	wantSettings(t, r.cfg.Bricks, protect.Off, protect.Off, protect.Off)
}

// Where that is allowed the next level runs on the agents that are left.
func TestAgentDiesAllowed(t *testing.T) {
	t.Parallel()
	r := dying(t)
	r.cfg.AllowLost = true
	if err := r.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.levels) != 2 || len(r.warnings) != 1 {
		t.Fatalf("%d levels, warnings %q", len(r.levels), r.warnings)
	}
	marked(t, &r.levels[0])
	l := &r.levels[1]
	if len(l.Row.LostHosts) > 0 || len(l.PerHost) != 1 || l.Row.Machines != 5 || l.Row.Goodput() <= 0 {
		t.Errorf("second level: %+v, %d hosts", l.Row, len(l.PerHost))
	}
}

// An agent that is lost before the start keeps the level from beginning with too few
// machines: with permission it begins again, spread over the others.
func TestAgentLostAtTheBarrier(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{false, true} {
		levels := make(chan message.Level, 4)
		second := message.Report{Interval: []loadgen.Interval{{Protection: "on"}, {Second: 1, Protection: "on"}}}
		stays := script{reachable: 3, reports: []message.Report{second}, levels: levels}.play
		goes := func(_ context.Context, in io.Reader, _ io.Writer) error {
			var o message.Order
			return message.Read(in, &o) // and that was all
		}
		r := prepare(t, plan(4), embedded(t, 3, protect.On), stays, goes)
		r.cfg.AllowLost = allowed
		err := r.measure(t.Context())
		if !allowed {
			agentLost(t, err, "b", "it ended")
			if len(r.levels) > 0 {
				t.Errorf("%d levels", len(r.levels))
			}
			continue
		}
		if err != nil || len(r.levels) != 1 {
			t.Fatalf("%d levels, error %v", len(r.levels), err)
		}
		if first, again := <-levels, <-levels; first.Machines != 2 || again.Machines != 4 {
			t.Errorf("%d machines, then %d; want 2, then 4", first.Machines, again.Machines)
		}
	}
}

// A run whose last agent is lost ends, whatever is allowed.
func TestAllAgentsLost(t *testing.T) {
	t.Parallel()
	p := plan(1)
	p.Duration = time.Hour
	r := prepare(t, p, embedded(t, 3, protect.On), agent.Run)
	r.cfg.AllowLost = true
	r.each = func(result.Second) { r.parts[0].end() }
	agentLost(t, r.measure(t.Context()), "a", "it ended")
}

// Machines are spread over hosts first: a host with more agents gets no more of them, and
// the row says how many share one.
func TestSpread(t *testing.T) {
	t.Parallel()
	second := message.Report{Interval: []loadgen.Interval{{Protection: "on"}, {Second: 1, Protection: "on"}}}
	var heard [3]chan message.Level
	var agents []func(context.Context, io.Reader, io.Writer) error
	for i := range heard {
		heard[i] = make(chan message.Level, 1)
		agents = append(agents, script{reachable: 3, reports: []message.Report{second}, levels: heard[i]}.play)
	}
	r := prepare(t, plan(9), embedded(t, 3, protect.On), agents...)
	r.cfg.Agents[2].Host = "a" // the first and the last
	r.must(1)
	for i, want := range [][2]int{{0, 3}, {5, 4}, {3, 2}} {
		if l := <-heard[i]; l.First != want[0] || l.Machines != want[1] {
			t.Errorf("agent %d has %d machines from %d, want %v", i, l.Machines, l.First, want)
		}
	}
	if notes := r.levels[0].Row.Notes; !slices.Contains(notes, "9 machines on 2 hosts, 4 or 5 on each") {
		t.Errorf("notes %q", notes)
	}
}

// One host that is not this machine is worth a word too.
func TestOneHost(t *testing.T) {
	t.Parallel()
	second := message.Report{Interval: []loadgen.Interval{{Protection: "on"}, {Second: 1, Protection: "on"}}}
	for host, want := range map[string]bool{"a": true, "localhost": false} {
		r := prepare(t, plan(9), embedded(t, 3, protect.On), scripted(3, second))
		r.cfg.Agents[0].Host = host
		r.must(1)
		if notes := r.levels[0].Row.Notes; slices.Contains(notes, "9 machines on 1 host") != want {
			t.Errorf("%s: notes %q", host, notes)
		}
	}
}

// The start of a level allows for the way of the order: who is further away waits less.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	const away = 100 * time.Millisecond
	second := message.Report{Interval: []loadgen.Interval{{Protection: "on"}, {Second: 1, Protection: "on"}}}
	starts := []chan time.Duration{make(chan time.Duration, 2), make(chan time.Duration, 2)}
	var agents []func(context.Context, io.Reader, io.Writer) error
	for i, d := range []time.Duration{0, away} {
		agents = append(agents, script{
			reachable: 3, reports: []message.Report{second}, levels: make(chan message.Level, 2), away: d, starts: starts[i],
		}.play)
	}
	r := prepare(t, plan(2, 3), embedded(t, 3, protect.On), agents...)
	trips := make(map[string]time.Duration)
	told := 0
	r.cfg.RoundTrip = func(host string, trip time.Duration) { trips[host] = trip; told++ }
	r.must(2)
	if told != 2 || trips["b"] < away || trips["a"] <= 0 {
		t.Errorf("%d trips: %v", told, trips)
	}
	near, far := <-starts[0], <-starts[1]
	if far <= 0 || near-far < (trips["b"]-trips["a"])/2 {
		t.Errorf("the near one waits %v, the far one %v; trips %v", near, far, trips)
	}
}
