package sim

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// faulty is a level of 12 s at 70 % of what six bricks can serve.
func faulty(t testing.TB, protection string, specs ...string) *Config {
	t.Helper()
	cfg := testConfig(t, []int{3}, protection)
	cfg.Plan.Threads, cfg.Plan.Bricks, cfg.Plan.Duration = 10, 6, 12*time.Second
	var err error
	if cfg.Faults, err = chaos.ParseAll(specs); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// failed counts what of a second is not ok.
func failed(s *result.Second) (n uint64) {
	for o, c := range s.Count {
		if session.Outcome(o) != session.OK {
			n += c
		}
	}
	return n
}

// Each fault does what it is there for while it lasts, and nothing before and after. With W = 2 a
// write needs both of its bricks, so that one bad brick shows.
func TestFaultEffects(t *testing.T) {
	const begin, end = 4, 7
	for _, tt := range []struct {
		spec      string
		low, high float64       // failures a second while it lasts
		fails     uint64        // after it: the most in the second of its end
		least     time.Duration // of its p99
		settles   int           // seconds until nothing of it is left
	}{
		{"stall:brick-2@4s+3s", 100, 160, 200, 0, 6},
		{"slow:brick-2,by=3ms@4s+3s", 0, 60, 5, 30 * ms, 1},
		{"drop:brick-2,share=0.7@4s+3s", 80, 140, 15, 0, 1},
		{"partition:brick-2@4s+3s", 100, 160, 15, 0, 1},
		{"loss:brick-2,share=0.3@4s+3s", 60, 120, 15, 0, 1},
		{"delay:brick-2,by=5ms,jitter=2ms@4s+3s", 0, 0, 0, 14 * ms, 1},
	} {
		t.Run(tt.spec, func(t *testing.T) {
			cfg := faulty(t, "off", tt.spec)
			cfg.Plan.W, cfg.Plan.Duration = 2, 16*time.Second
			l := simulateOne(t, cfg)
			for i := range l.Seconds {
				s := &l.Seconds[i]
				n := failed(s)
				switch {
				case s.Second < 0:
				case s.Second < begin || s.Second >= end+tt.settles:
					within(t, "goodput before or after", float64(s.Count[session.OK]), 900, 1050)
					if n > 0 || s.P99 > 14*ms {
						t.Errorf("second %d: %d failures, p99 %v without the fault", s.Second, n, s.P99)
					}
				case s.Second < end:
					within(t, "failures in it", float64(n), tt.low, tt.high)
					if s.P99 < tt.least {
						t.Errorf("second %d: p99 %v, want at least %v", s.Second, s.P99, tt.least)
					}
				case s.Second == end && n > tt.fails:
					t.Errorf("%d failures in the second of the end, want at most %d", n, tt.fails)
				}
				if n != s.Count[session.Timeout] {
					t.Errorf("second %d: %v: failures that are no time-outs", s.Second, s.Count)
				}
			}
			if l.Row.Wrong+l.Row.Lost > 0 || len(l.Row.Notes) > 0 {
				t.Errorf("wrong %d, lost %d, notes %q", l.Row.Wrong, l.Row.Lost, l.Row.Notes)
			}
		})
	}
}

// The quorum masks a brick's death: with W=3, WQ=2, R=1 nothing is wrong or lost, and what
// fails was in flight to it.
func TestKillOne(t *testing.T) {
	for _, protection := range []string{"off", "on"} {
		l := simulateOne(t, faulty(t, protection, "kill:brick-2@4s+3s"))
		if l.Row.Wrong+l.Row.Lost > 0 {
			t.Errorf("protection %s: wrong %d, lost %d", protection, l.Row.Wrong, l.Row.Lost)
		}
		for i := range l.Seconds {
			s := &l.Seconds[i]
			n, most := failed(s), uint64(0)
			if s.Second == 4 {
				most = 30 // a user each
			}
			if n > most || s.Count[session.Error] != n {
				t.Errorf("protection %s, second %d: %v, want at most %d errors and nothing else", protection, s.Second, s.Count, most)
			}
			if s.Second >= 0 {
				within(t, "goodput", float64(s.Count[session.OK]), 880, 1050)
			}
		}
		if want := []string{"brick-2 died once and came back empty"}; !slices.Equal(l.Row.Notes, want) {
			t.Errorf("notes %q, want %q", l.Row.Notes, want)
		}
	}
}

// While no brick is there, every attempt is an error; users go on with fresh states, so that
// none misses what it will never ask for again, and all is well once the bricks are back. What was
// written before is lost, and may be.
func TestKillAll(t *testing.T) {
	specs := []string{"kill:brick-1@4s+2s", "kill:brick-2@4s+2s", "kill:brick-3@4s+2s", "kill:brick-4@4s+2s", "kill:brick-5@4s+2s", "kill:brick-6@4s+2s"}
	l := simulateOne(t, faulty(t, "on", specs...))
	a := &l.Row.Audit
	if l.Row.Wrong > 0 || a.Lost != l.Row.Lost || a.Lost != a.Allowed || a.Lost+a.Found+a.Expired != a.Writes {
		t.Errorf("wrong %d, audit %+v", l.Row.Wrong, a)
	}
	// Of the states of 10 s before the read-back, a second after the end, those of one were written before.
	within(t, "lost", float64(a.Lost), 400, 550)
	for i := range l.Seconds {
		s := &l.Seconds[i]
		switch ok := s.Count[session.OK]; {
		case s.Second == 5 && (ok > 0 || failed(s) != s.Count[session.Error] || failed(s) < 500):
			t.Errorf("second %d: %v, want nothing but errors without a brick", s.Second, s.Count)
		case s.Second > 7 && ok < 900:
			t.Errorf("second %d: %d ok with all bricks back", s.Second, ok)
		}
	}
}

// A brick that is dead to the end is back, and empty, for the read-back: the states that
// only it and others of its fate held are lost, not unknown.
func TestKillToTheEnd(t *testing.T) {
	cfg := faulty(t, "on", "kill:brick-1@11900ms", "kill:brick-2@11900ms")
	cfg.Plan.Bricks, cfg.Plan.W, cfg.Plan.Audit = 2, 2, 10*time.Second // each of 2 bricks is asked for each
	l := simulateOne(t, cfg)
	a := &l.Row.Audit
	if a.Lost < 2000 || a.Lost != a.Allowed || a.Lost+a.Expired != a.Writes || l.Row.Wrong > 0 || len(l.Row.Notes) != 2 {
		t.Errorf("wrong %d, audit %+v, notes %q; want all states lost", l.Row.Wrong, a, l.Row.Notes)
	}
}

// What a fault leaves of a brick's processor does not reach into the read-back.
func TestFaultBeforeReadBack(t *testing.T) {
	for _, spec := range []string{"slow:brick-1,by=1h@11950ms", "stall:brick-1@11950ms+2h", "partition:brick-1@11950ms", "drop:brick-1,share=1@11950ms"} {
		cfg := faulty(t, "on", spec)
		cfg.Plan.Bricks, cfg.Plan.W, cfg.Plan.WQ = 2, 1, 1 // so that every other state is on brick-1 alone
		if l := simulateOne(t, cfg); l.Row.Lost+l.Row.Wrong > 0 || len(l.Row.Notes) > 0 {
			t.Errorf("%s: lost %d, wrong %d, notes %q", spec, l.Row.Lost, l.Row.Wrong, l.Row.Notes)
		}
	}
}

func TestFaultEvents(t *testing.T) {
	cfg := faulty(t, "on", "kill:brick-2@4s+3s", "slow:brick-1,by=1ms@1500ms+2500ms", "loss:brick-3,share=0.1@5s")
	want := []result.Event{
		{Second: 1.5, Kind: "fault", Who: "brick-1", What: "slow:brick-1,by=1ms@1.5s+2.5s"},
		{Second: 4, Kind: "fault-over", Who: "brick-1", What: "slow:brick-1,by=1ms@1.5s+2.5s"},
		{Second: 4, Kind: "fault", Who: "brick-2", What: "kill:brick-2@4s+3s"},
		{Second: 5, Kind: "fault", Who: "brick-3", What: "loss:brick-3,share=0.1@5s"},
		{Second: 7, Kind: "fault-over", Who: "brick-2", What: "kill:brick-2@4s+3s"},
		{Second: 12, Kind: "fault-over", Who: "brick-3", What: "loss:brick-3,share=0.1@5s"},
	}
	if diff := cmp.Diff(want, simulateOne(t, cfg).Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestFaultRefused(t *testing.T) {
	for _, spec := range []string{"kill:brick-7@1s", "kill:brick-1@12s"} {
		cfg := faulty(t, "on", spec)
		if _, err := Level(context.Background(), cfg, loadgen.Points(&cfg.Plan)[0]); err == nil {
			t.Errorf("%s was simulated", spec)
		}
	}
}
