package loadgen

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

func TestGuestsOf(t *testing.T) {
	faults, err := chaos.ParseAll([]string{"surge:load,machines=34@10s+10s", "kill:brick-1@1s", "surge:load,machines=5@15s", "surge:load,machines=1@29s+10s"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Guests{
		{First: 6, Machines: 34, Begin: 15 * second, End: 25 * second},
		{First: 40, Machines: 5, Begin: 20 * second, End: 35 * second},
		{First: 45, Machines: 1, Begin: 34 * second, End: 35 * second},
	}
	if diff := cmp.Diff(want, GuestsOf(faults, 6, 5*second, 30*second)); diff != "" {
		t.Errorf("guests (-want +got):\n%s", diff)
	}
	if got := GuestsOf(faults[:1], 6, 5*second, 30*second); got != nil {
		t.Errorf("a dead brick brings guests: %+v", got)
	}
}

// The time that guests are there is what the dumb way gives: users that begin at random
// within the join, one by one.
func TestGuestsPresent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	upTo := func(most time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(most))) }
	for range 50 {
		g := Guests{Machines: 3, Begin: upTo(20 * second)}
		g.End = g.Begin + upTo(10*second)
		join, from := upTo(3*second), upTo(15*second)
		till := from + upTo(20*second)
		const threads, tries = 4, 20_000
		var sum time.Duration
		for i := range tries {
			begin := g.Begin + time.Duration((float64(i)+0.5)/tries*float64(join))
			sum += max(0, min(g.End, till)-max(begin, from))
		}
		want := float64(sum) / tries * threads * 3
		if got := float64(g.Present(threads, join, from, till)); math.Abs(got-want) > 1e-3*float64(second) {
			t.Errorf("%+v, join %v, from %v till %v: %v, want %v", g, join, from, till, time.Duration(got), time.Duration(want))
		}
	}
	g := Guests{Machines: 1, Begin: second, End: 2 * second}
	if got := g.Present(1, 0, 0, 5*second); got != second {
		t.Errorf("without a join: %v", got)
	}
}

// A machine with a begin and an end loads between them, and its users account for that time.
func TestMachineBeginsAndEnds(t *testing.T) {
	for name, rate := range map[string]float64{"closed": 0, "open": 400} {
		w := newWorld(12, protect.On, func(cfg *MachineConfig) {
			cfg.Join, cfg.Rate, cfg.Begin, cfg.End = second, rate, 5*second, 9*second
		})
		w.run(20 * second)
		if first, last := w.sent[0].at, w.sent[len(w.sent)-1].at; first < 5*second || first > 5500*ms || last < 8900*ms || last >= 9*second {
			t.Fatalf("%s: the first is sent at %v, the last at %v", name, first, last)
		}
		if next := w.m.Next(); next != 0 || !w.m.Idle() {
			t.Errorf("%s: after its end the machine wants to wake at %v", name, next)
		}
		all := w.sum(t)
		plan := result.Plan{Threads: 12, Rate: rate}
		g := Generation{Measured: 20 * second, Busy: all.Busy, Rest: all.Rest, Timeout: 60 * ms, Cores: 1}
		g.Expect(&plan, 1, []Guests{{Machines: 1, Begin: 5 * second, End: 9 * second}}, second)
		g.Users = 0 // of the level itself there are none here
		if rate > 0 && g.Guests != 0 {
			t.Errorf("an open loop expects %v of its guests", g.Guests)
		}
		if present := all.Busy + all.Rest; rate == 0 && math.Abs(present.Seconds()/g.Guests.Seconds()-1) > 0.03 {
			t.Errorf("users account for %v, expected %v", present, g.Guests)
		}
		guestsAudit(t, w)
	}
}

// guestsAudit checks that a machine whose time is over finds what it wrote.
func guestsAudit(t *testing.T, w *world) {
	t.Helper()
	if a := w.readBack(t, 20); a.Writes == 0 || a.Found+a.Expired != a.Writes {
		t.Errorf("the audit found %+v", a)
	}
}

// A stepper that comes late lets nobody begin after the end.
func TestMachineEndsThoughSteppedLate(t *testing.T) {
	w := newWorld(12, protect.On, func(cfg *MachineConfig) { cfg.Join, cfg.End = second, second })
	w.now = second
	w.m.Step(w.now)
	if len(w.sent) > 0 {
		t.Errorf("%d requests after the end", len(w.sent))
	}
}

// Guests account for their part of the law, and only for that.
func TestLawWithGuests(t *testing.T) {
	plan := result.Plan{Threads: 10, Warmup: 5 * second}
	guests := []Guests{{Machines: 4, Begin: 15 * second, End: 25 * second}}
	g := Generation{Measured: 100 * second, Busy: 500 * second, Rest: 500*second + 400*second - 20*second}
	g.Expect(&plan, 1, guests, second)
	if gap := g.LawGap(); math.Abs(gap) > 1e-9 {
		t.Errorf("everybody is there, and the gap is %v", gap)
	}
	g = Generation{Measured: 12 * second, Busy: 120 * second, Timeout: 60 * ms, Cores: 1} // interrupted, guests idle
	g.Expect(&plan, 1, guests, second)
	if gap := g.LawGap(); math.Abs(gap-60.0/180) > 1e-9 || g.Judge().OK {
		t.Errorf("the guests' 60 s of 180 are missing, and the gap is %v", gap)
	}
}

func TestRecorderGuests(t *testing.T) {
	r := started()
	for _, machine := range []int{10, 12, 9, 4000, 11, 10} {
		r.Attempt(startAt+2*second, attempt(machine, session.OK))
	}
	if diff := cmp.Diff([]uint64{2, 1}, r.PerMachine()); diff != "" {
		t.Errorf("measured by machine (-want +got):\n%s", diff)
	}
	if n := cut(t, r, 3*second)[2].Count[session.OK]; n != 6 {
		t.Errorf("%d attempts of all machines, want 6", n)
	}
}

func TestFaultEvents(t *testing.T) {
	faults, err := chaos.ParseAll([]string{"kill:brick-1@1s+2s", "surge:load,machines=5@3s", "stall:brick-2@500ms+1s"})
	if err != nil {
		t.Fatal(err)
	}
	want := []result.Event{
		{Level: 2, Second: 0.5, Kind: "fault", Who: "brick-2", What: "stall:brick-2@500ms+1s"},
		{Level: 2, Second: 1, Kind: "fault", Who: "brick-1", What: "kill:brick-1@1s+2s"},
		{Level: 2, Second: 1.5, Kind: "fault-over", Who: "brick-2", What: "stall:brick-2@500ms+1s"},
		{Level: 2, Second: 3, Kind: "fault-over", Who: "brick-1", What: "kill:brick-1@1s+2s"},
		{Level: 2, Second: 3, Kind: "fault", Who: "load", What: "surge:load,machines=5@3s"},
		{Level: 2, Second: 9, Kind: "fault-over", Who: "load", What: "surge:load,machines=5@3s"},
	}
	if diff := cmp.Diff(want, FaultEvents(2, faults, 9*second)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
