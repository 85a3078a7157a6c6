package protect

import (
	"strings"
	"testing"
	"time"
)

func TestSettingRoundTrip(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range Settings() {
		again, err := ParseSetting(s.String())
		if err != nil || again != s {
			t.Errorf("%v came back as %v, error %v", s, again, err)
		}
		seen[s.String()] = true
	}
	for _, name := range []string{"on", "off", "window", "discard"} {
		if !seen[name] {
			t.Errorf("no setting is called %s", name)
		}
	}
	var zero Setting
	if len(seen) != 4 || zero != Off {
		t.Errorf("%d settings, the zero one is %v", len(seen), zero)
	}
	for _, name := range []string{"", "On", "on ", "mixed", "both"} {
		if _, err := ParseSetting(name); err == nil || !strings.Contains(err.Error(), "on, off, window or discard") {
			t.Errorf("%q: error %v names no choice", name, err)
		}
	}
}

func TestDead(t *testing.T) {
	const tick = time.Nanosecond
	tests := []struct {
		s      Setting
		waited time.Duration
		want   bool
	}{
		{On, 0, false},
		{On, timeout - tick, false},
		{On, timeout, false},
		{On, timeout + tick, true},
		{DiscardOnly, timeout + tick, true},
		{WindowOnly, timeout + tick, false},
		{Off, time.Hour, false},
	}
	for _, tt := range tests {
		if got := tt.s.Dead(tt.waited, timeout); got != tt.want {
			t.Errorf("protection %v, waited %v of %v: dead %v, want %v", tt.s, tt.waited, timeout, got, tt.want)
		}
	}
}

func TestPolicyByName(t *testing.T) {
	if Policies()[0].Name != DefaultPolicy {
		t.Errorf("the first policy is %s, want %s", Policies()[0].Name, DefaultPolicy)
	}
	for _, p := range Policies() {
		found, err := PolicyByName(p.Name)
		if err != nil || found.Name != p.Name || found.New(timeout, 1) == nil {
			t.Errorf("%s: found %q, error %v", p.Name, found.Name, err)
		}
		if p.Summary == "" || strings.Contains(p.Summary, "\n") {
			t.Errorf("%s: %q is not one line for a help text", p.Name, p.Summary)
		}
	}
	if _, err := PolicyByName("vegas"); err == nil || !strings.Contains(err.Error(), DefaultPolicy) {
		t.Errorf("error %v names no choice", err)
	}
	Policies()[0].Name = "changed"
	if Policies()[0].Name != DefaultPolicy {
		t.Error("a caller can change the list of policies")
	}
}
