package coordinator_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

func surges(t *testing.T, specs ...string) []chaos.Fault {
	t.Helper()
	faults, err := chaos.ParseAll(specs)
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// The machines of a surge load for their time, and the row's own figures are the level's.
func TestSurge(t *testing.T) {
	t.Parallel()
	p := plan(2)
	p.Duration, p.Threads = 4*time.Second, 1 // so few users that a busy machine bears four times as many
	r := prepareTwo(t, p, embedded(t, 4, protect.On))
	r.cfg.Faults = surges(t, "surge:load,machines=6@1s+2s")
	r.must(1)
	l := &r.levels[0]
	if l.Row.Machines != 2 || l.Row.Users != 2 || len(l.Seconds) != 5 || l.Row.Wrong+l.Row.Lost != 0 {
		t.Errorf("row %+v, %d seconds", l.Row, len(l.Seconds))
	}
	var goodput []uint64
	for _, s := range l.Seconds[1:] {
		goodput = append(goodput, s.Count[session.OK])
	}
	// Four times as many machines make about four times as much of it.
	if during := (goodput[1] + goodput[2]) / 2; during < 2*goodput[0] || during < 2*goodput[3] {
		t.Errorf("goodput %d; the surge is in the second and third", goodput)
	}
	if l.Row.Fairness < 0.9 {
		t.Errorf("fairness %v between two machines", l.Row.Fairness)
	}
	for i := range r.events {
		if r.events[i].Time.IsZero() {
			t.Errorf("event %d has no time", i)
		}
		r.events[i].Time = time.Time{}
	}
	if diff := cmp.Diff(loadgen.FaultEvents(0, r.cfg.Faults, p.Duration), r.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Agents share guests out like a level's own machines, and no number is given twice.
func TestOrdersOfGuests(t *testing.T) {
	t.Parallel()
	second := message.Report{Interval: []loadgen.Interval{{Protection: "on"}}}
	var heard [3]chan message.Level
	var agents []func(context.Context, io.Reader, io.Writer) error
	for i := range heard {
		heard[i] = make(chan message.Level, 1)
		agents = append(agents, script{reachable: 3, reports: []message.Report{second}, levels: heard[i]}.play)
	}
	p := plan(2)
	p.Rate = 30
	r := prepare(t, p, embedded(t, 3, protect.On), agents...)
	r.cfg.Faults = surges(t, "surge:load,machines=5@0s+1s", "surge:load,machines=1@1s")
	r.must(1)
	own, guests := 0, [3][]loadgen.Guests{}
	for i := range heard {
		l := <-heard[i]
		own += l.Machines
		guests[i] = l.Guests
		if l.Rate != p.Rate/2 {
			t.Errorf("a guest makes %v attempts/s, want those of a machine of the level, %v", l.Rate, p.Rate/2)
		}
	}
	const s = time.Second
	want := [3][]loadgen.Guests{
		{{First: 2, Machines: 2, Begin: s, End: 2 * s}, {First: 7, Machines: 1, Begin: 2 * s, End: 3 * s}},
		{{First: 4, Machines: 2, Begin: s, End: 2 * s}},
		{{First: 6, Machines: 1, Begin: s, End: 2 * s}},
	}
	if diff := cmp.Diff(want, guests); diff != "" || own != 2 {
		t.Errorf("%d machines; guests (-want +got):\n%s", own, diff)
	}
}
