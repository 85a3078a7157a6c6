package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// inFlight is how many requests were on their way to a brick, in it or on their way back when it died.
type inFlight struct {
	world    World
	machines int
	atDeath  int
}

func (f *inFlight) Start(w World) { f.world = w }

func (f *inFlight) See(s *Sight) {
	if s.What != Killed {
		return
	}
	for m := range f.machines {
		f.atDeath += f.world.View(m, s.Brick).InFlight
	}
}

// peak is the highest goodput of a configuration.
func peak(t *testing.T, cfg *Config) float64 {
	t.Helper()
	plan := *cfg
	plan.Faults, plan.Witness = nil, nil
	best := 0.0
	for _, threads := range []int{40, 50, 60} {
		plan.Plan.Machines, plan.Plan.Threads = []int{1}, threads
		l := simulateOne(t, &plan)
		best = max(best, l.Row.Goodput())
	}
	return best
}

// intact checks what must hold of every level with one brick's failure, whatever it was.
func intact(t *testing.T, l *result.Level) {
	t.Helper()
	a := &l.Row.Audit
	if l.Row.Wrong+l.Row.Lost > 0 || !a.Clean() || a.Found < 3000 {
		t.Errorf("wrong %d, lost %d, audit %s", l.Row.Wrong, l.Row.Lost, a)
	}
}

// A brick of six dies under 70 % of the peak and is back ten seconds later: nothing is lost or wrong, no
// more fails than was in flight to it, and goodput stays within 5 % in every full second but that one.
func TestBrickCrash(t *testing.T) {
	for _, tt := range []struct{ r, machines, threads int }{{1, 3, 10}, {2, 5, 5}} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("R=%d seed %d", tt.r, seed), func(t *testing.T) {
				t.Parallel()
				f := &inFlight{machines: tt.machines}
				cfg := faulty(t, "on", "kill:brick-2@10s+10s")
				cfg.Plan.R, cfg.Plan.Machines, cfg.Plan.Threads, cfg.Plan.Seed = tt.r, []int{tt.machines}, tt.threads, seed
				cfg.Plan.Duration, cfg.Witness = 30*time.Second, f
				l := simulateOne(t, cfg)
				intact(t, &l)
				before := 0.0
				for i := range l.Seconds {
					if s := &l.Seconds[i]; s.Second >= 0 && s.Second < 10 {
						before += float64(s.Count[session.OK]) / 10
					}
				}
				fails, lowest := uint64(0), before
				for i := range l.Seconds {
					s := &l.Seconds[i]
					if fails += failed(s); s.Second >= 0 && s.Second != 10 {
						within(t, fmt.Sprintf("goodput in second %d", s.Second), float64(s.Count[session.OK]), 0.95*before, 1.05*before)
						lowest = min(lowest, float64(s.Count[session.OK]))
					}
				}
				if fails > uint64(f.atDeath) {
					t.Errorf("%d attempts failed, %d requests were in flight to the brick", fails, f.atDeath)
				}
				t.Logf("before %.0f/s (%.0f %% of the peak), lowest second %.1f %%, %d failed, %d in flight", before, 100*before/peak(t, cfg), 100*lowest/before-100, fails, f.atDeath)
			})
		}
	}
}

// Under the scenarios of one bad brick no user gets a corrupt answer and every acknowledged
// state is found.
func TestScenariosLoseNothing(t *testing.T) {
	for _, s := range chaos.Scenarios() {
		if s.Name == "surge" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s = s.Scaled(0.5)
			cfg := faulty(t, s.Protection)
			cfg.Faults, cfg.Plan.Duration = s.Faults, s.Duration
			cfg.Plan.Bricks = s.Bricks
			if s.Timeout > 0 {
				cfg.Plan.Timeout = s.Timeout
			}
			l := simulateOne(t, cfg)
			intact(t, &l)
			struck := slices.ContainsFunc(l.Row.Notes, func(n string) bool { return strings.HasPrefix(n, "brick-2 ") })
			if slow := s.Name == "slow-brick"; struck == slow {
				t.Errorf("notes %q: they should tell of a brick that has died or found damage", l.Row.Notes)
			}
			t.Logf("%s, notes %q", &l.Row.Audit, l.Row.Notes)
		})
	}
}
