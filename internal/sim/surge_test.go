package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/result"
)

// surged simulates the scenario surge with a policy, for so long, and judges its surge.
func surged(t *testing.T, protection, policy string, duration time.Duration) (result.Level, result.Recovery) {
	t.Helper()
	s, err := chaos.ScenarioByName("surge")
	if err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(t, []int{6}, protection)
	cfg.Plan.Policies, cfg.Plan.Duration, cfg.Faults = []string{policy}, duration, s.Faults
	l := simulateOne(t, cfg)
	f := s.Faults[0]
	return l, result.Recoveries(l.Seconds, []result.Span{{From: f.At, Till: f.Ends(duration)}})[0]
}

// A protected store is itself again as soon as the surge is over.
func TestSurgeProtected(t *testing.T) {
	for _, policy := range []string{"aimd", "paced"} {
		l, r := surged(t, "on", policy, 40*time.Second)
		if r.Back == nil || *r.Back > 3*time.Second {
			t.Errorf("%s: back after %v %s, want 3s at most", policy, r.Back, r.Why)
		}
		within(t, policy+": goodput/s of 6 machines", *r.Before, 1750, 1900)
		if !l.Row.GeneratorOK.OK || l.Row.Machines != 6 || l.Row.Users != 72 || l.Row.Wrong+l.Row.Lost > 0 {
			t.Errorf("%s: row %+v", policy, l.Row)
		}
		within(t, policy+": fairness between the 6", l.Row.Fairness, 0.99, 1)
		if diff := cmp.Diff("on", l.Row.Protection); diff != "" {
			t.Error(diff)
		}
	}
}

// An unprotected one has the surge's dead requests in its inboxes, and with its users'
// next ones takes longer to get rid of them than the surge was long: it is nowhere near itself when the
// scenario ends. Six machines leave it time to, and it comes back within a minute.
func TestSurgeUnprotected(t *testing.T) {
	l, r := surged(t, "off", "aimd", 40*time.Second)
	if r.Back != nil || r.Lowest > 0 || l.Row.Steady.OK || !l.Row.GeneratorOK.OK {
		t.Errorf("%+v, row %+v", r, l.Row)
	}
	if _, r = surged(t, "off", "aimd", 80*time.Second); r.Back == nil || *r.Back < 20*time.Second || *r.Back > time.Minute {
		t.Errorf("back after %v %s, want 20s to 1m", r.Back, r.Why)
	}
}

// Until it begins, a surge changes nothing.
func TestSurgeUntilItBegins(t *testing.T) {
	cfg := testConfig(t, []int{6}, "on")
	plain := simulateOne(t, cfg).Seconds
	cfg.Faults = []chaos.Fault{{Kind: chaos.Surge, Machines: 34, At: 5 * time.Second, For: time.Second}}
	with := simulateOne(t, cfg).Seconds
	if diff := cmp.Diff(plain[:10], with[:10]); diff != "" {
		t.Errorf("seconds before the surge (-without +with):\n%s", diff)
	}
	if cmp.Equal(plain[10:], with[10:]) {
		t.Error("the surge changes nothing at all")
	}
}

// The attempts of an open loop rise by the share of the machines that come.
func TestSurgeOpenLoop(t *testing.T) {
	cfg := testConfig(t, []int{2}, "on")
	cfg.Plan.Rate = 200
	cfg.Faults = []chaos.Fault{{Kind: chaos.Surge, Machines: 6, At: 2 * time.Second, For: 4 * time.Second}}
	l := simulateOne(t, cfg)
	sum := func(from, till int) (n float64) {
		for _, s := range l.Seconds {
			if s.Second >= from && s.Second < till {
				n += float64(s.Count[0])
			}
		}
		return n / float64(till-from)
	}
	within(t, "goodput/s before", sum(0, 2), 160, 240)
	within(t, "goodput/s in the surge", sum(2, 6), 720, 880)
	within(t, "goodput/s after", sum(7, 10), 170, 230)
	if !l.Row.GeneratorOK.OK {
		t.Errorf("generator: %s", l.Row.GeneratorOK.Why)
	}
}
