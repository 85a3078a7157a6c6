package protect

import (
	"strings"
	"testing"
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
	for name, want := range map[string]Setting{
		"on": {Window: true, Queue: Discard}, "off": {}, "window": {Window: true}, "discard": {Queue: Discard},
		"codel": {Queue: CoDel}, "window+codel": {Window: true, Queue: CoDel},
	} {
		if s, err := ParseSetting(name); err != nil || s != want || !seen[name] {
			t.Errorf("%s is %+v, error %v, want %+v", name, s, err, want)
		}
	}
	var zero Setting
	if len(seen) != 6 || zero != Off {
		t.Errorf("%d settings, the zero one is %v", len(seen), zero)
	}
	for _, name := range []string{"", "On", "on ", "mixed", "both", "codel+window", Setting{Queue: 9}.String()} {
		if _, err := ParseSetting(name); err == nil || !strings.Contains(err.Error(), "on, off, window, discard, codel or window+codel") {
			t.Errorf("%q: error %v names no choice", name, err)
		}
	}
}

func TestWindowed(t *testing.T) {
	for name, want := range map[string]bool{
		"on": true, "window": true, "window+codel": true, "off": false, "discard": false, "codel": false,
		"": true, "mixed": true, // not known, so it may be
	} {
		if got := Windowed(name); got != want {
			t.Errorf("%q is windowed: %v, want %v", name, got, want)
		}
	}
}

func TestSettingSummaries(t *testing.T) {
	for _, s := range Settings() {
		if s.Summary() == "" || strings.Contains(s.Summary(), "\n") {
			t.Errorf("%v: %q is not one line for a help text", s, s.Summary())
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
	if _, err := PolicyByName("no such policy"); err == nil || !strings.Contains(err.Error(), DefaultPolicy) {
		t.Errorf("error %v names no choice", err)
	}
	Policies()[0].Name = "changed"
	if Policies()[0].Name != DefaultPolicy {
		t.Error("a caller can change the list of policies")
	}
}
