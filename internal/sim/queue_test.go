package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// A window without bound is no window: under it a level is that of the bricks' half alone.
func TestPolicyOffIsNoWindow(t *testing.T) {
	cfg := testConfig(t, []int{14}, "on", "discard", "window", "off")
	cfg.Plan.Policies, cfg.Plan.Duration = []string{"off"}, 5*time.Second
	all := rows(t, cfg)
	for i := 0; i < len(all); i += 2 {
		with, without := all[i], all[i+1]
		with.Protection, without.Protection = "", ""
		if diff := cmp.Diff(without, with); diff != "" {
			t.Errorf("%s (-without the window +with one without bound):\n%s", all[i].Protection, diff)
		}
		if with.Rates[session.Rejected] > 0 {
			t.Errorf("%s: %v rejected/s", all[i].Protection, with.Rates[session.Rejected])
		}
	}
}

// Under codel the fresh are served where first come, first served lets all wait in vain;
// without overload it makes no difference.
func TestCoDelLevels(t *testing.T) {
	all := rows(t, testConfig(t, []int{4, 14}, "codel", "window+codel", "off"))
	for i, r := range all[:2] {
		within(t, r.Protection+", refused/s at 4 machines", r.Rates[session.Refused], 0, 20)
		within(t, r.Protection+", goodput/s at 4 machines", r.Goodput(), 0.98*all[2].Goodput(), 1.02*all[2].Goodput())
		r = all[3+i]
		within(t, r.Protection+", goodput/s at 14 machines", r.Goodput(), 1400, 1900)
		within(t, r.Protection+", p50 in ms at 14 machines", r.Latency.P50.Seconds()*1e3, 2, 10)
		if r.Rates[session.Refused] == 0 || r.Rates[session.Wrong] > 0 || r.Lost > 0 {
			t.Errorf("%s at 14 machines: %v/s refused, %v/s wrong, %d lost", r.Protection, r.Rates[session.Refused], r.Rates[session.Wrong], r.Lost)
		}
	}
	within(t, "goodput/s at 14 machines without", all[5].Goodput(), 0, 10)
}

// The rules depend on nothing but the seed either.
func TestCoDelSameSeed(t *testing.T) {
	cfg := testConfig(t, []int{14}, "codel", "window+codel")
	cfg.Plan.Duration = 2 * time.Second
	var runs [2][]result.Row
	for i := range runs {
		runs[i] = rows(t, cfg)
	}
	if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
		t.Errorf("the same seed gives another level:\n%s", diff)
	}
}
