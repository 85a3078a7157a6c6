package protect

import (
	"testing"
	"time"
)

const tick = time.Nanosecond

func TestKeepAndDiscard(t *testing.T) {
	tests := []struct {
		r      Rule
		waited time.Duration
		want   Verdict
	}{
		{Keep, 0, Serve},
		{Keep, time.Hour, Serve},
		{Discard, 0, Serve},
		{Discard, timeout - tick, Serve},
		{Discard, timeout, Serve},
		{Discard, timeout + tick, Drop},
	}
	for _, tt := range tests {
		d := tt.r.New()
		if got := d.Judge(tt.waited, timeout); got != tt.want {
			t.Errorf("rule %d, waited %v of %v: verdict %d, want %d", tt.r, tt.waited, timeout, got, tt.want)
		}
		if got := d.Pick(0, tt.waited); got != Oldest {
			t.Errorf("rule %d picks %d", tt.r, got)
		}
	}
}

// decide tells a discipline of decisions, one each 20 ms from some instant on, and returns the last pick.
func decide(d Discipline, from time.Duration, waits ...time.Duration) (last Pick) {
	for i, w := range waits {
		last = d.Pick(from+time.Duration(i)*20*time.Millisecond, w)
	}
	return last
}

// The rule by table: decisions every 20 ms, so that the sixth ends the first interval.
func TestCoDelOverload(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name  string
		waits []time.Duration
		want  Pick
	}{
		{"before the first interval is over", []time.Duration{0, 9 * ms, 9 * ms, 9 * ms, 9 * ms}, Oldest},
		{"a new brick starts from nothing", []time.Duration{9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms}, Newest},
		{"a burst that drains", []time.Duration{9 * ms, 9 * ms, 5 * ms, 9 * ms, 9 * ms, 9 * ms}, Oldest},
		{"a queue that stands", []time.Duration{9 * ms, 9 * ms, 5*ms + tick, 9 * ms, 9 * ms, 9 * ms}, Newest},
		{"idle at the end", []time.Duration{9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 0}, Oldest},
		{"however long the oldest has waited", []time.Duration{9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, time.Hour}, Newest},
		{"the end of an interval counts for the next", []time.Duration{9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 0, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms}, Oldest},
		{"it lasts for an interval", []time.Duration{9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 0, 9 * ms, 9 * ms, 9 * ms}, Newest},
		{"and no longer", []time.Duration{9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 0, 9 * ms, 9 * ms, 9 * ms, 9 * ms}, Oldest},
	}
	for _, tt := range tests {
		if got := decide(CoDel.New(), time.Second, tt.waits...); got != tt.want {
			t.Errorf("%s: pick %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestCoDelVerdicts(t *testing.T) {
	calm, overloaded := CoDel.New(), CoDel.New()
	const w = 2 * codelTarget
	decide(calm, time.Second, w, 0, w, w, w, w)
	decide(overloaded, time.Second, w, w, w, w, w, w)
	tests := []struct {
		waited      time.Duration
		calm, under Verdict
	}{
		{0, Serve, Serve},
		{codelSlough, Serve, Serve},
		{codelSlough + tick, Serve, Refuse},
		{timeout, Serve, Refuse},
		{timeout + tick, Drop, Drop},
	}
	for _, tt := range tests {
		if got := calm.Judge(tt.waited, timeout); got != tt.calm {
			t.Errorf("waited %v without overload: verdict %d, want %d", tt.waited, got, tt.calm)
		}
		if got := overloaded.Judge(tt.waited, timeout); got != tt.under {
			t.Errorf("waited %v under overload: verdict %d, want %d", tt.waited, got, tt.under)
		}
	}
}
