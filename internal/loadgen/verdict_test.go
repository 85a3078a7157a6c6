package loadgen

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	// 12 users for 100 s are present for 1200 s.
	sound := Generation{
		Users: 12, Measured: 100 * time.Second, Busy: 400 * time.Second, Rest: 800 * time.Second,
		Timeout: 60 * time.Millisecond, LagP99: time.Millisecond, CPU: 0.5, Cores: 2, BrickLag: time.Millisecond,
	}
	tests := []struct {
		name   string
		change func(*Generation)
		why    []string // a word of each reason; none: the row can be believed
	}{
		{"sound", func(*Generation) {}, nil},
		{"at every bound", func(g *Generation) {
			g.LagP99, g.BrickLag, g.CPU, g.Rest = 6*time.Millisecond, 6*time.Millisecond, 1.7, 740*time.Second+time.Microsecond
		}, nil},
		{"turns late", func(g *Generation) { g.LagP99 = 6*time.Millisecond + 1 }, []string{"turn"}},
		{"replies late", func(g *Generation) { g.BrickLag = 6*time.Millisecond + 1 }, []string{"emulated reply"}},
		{"no core free", func(g *Generation) { g.CPU = 1.71 }, []string{"1.71 of its 2 cores"}},
		{"time missing", func(g *Generation) { g.Rest = 739 * time.Second }, []string{"+5.1 %"}},
		{"time too much", func(g *Generation) { g.Rest = 861 * time.Second }, []string{"-5.1 %"}},
		{"a longer time-out bears more", func(g *Generation) { g.LagP99, g.Timeout = 50*time.Millisecond, time.Second }, nil},
		{"open loop: the law says nothing", func(g *Generation) { g.Users, g.Rest = 0, 0 }, nil},
		{"open loop: late all the same", func(g *Generation) { g.Users, g.LagP99 = 0, time.Second }, []string{"turn"}},
		{"no attempt has ended", func(g *Generation) { g.Busy, g.Rest = 0, 0 }, []string{"+100.0 %"}},
		{"a host without an idle core", func(g *Generation) { g.HostBusy = 0.98 }, []string{"98 % busy"}},
		{"a host that is busy, not full", func(g *Generation) { g.HostBusy = 0.97 }, nil},
		{"a host with a name", func(g *Generation) {
			g.CPU, g.CPUHost, g.HostBusy, g.BusyHost, g.LagP99, g.LagHost = 2, "b1", 1, "b2", time.Second, "b3"
		}, []string{"agents of b1", "b2 was 100 % busy", "late on b3"}},
		{"everything", func(g *Generation) {
			g.LagP99, g.BrickLag, g.CPU, g.Rest = time.Second, time.Second, 2, 0
		}, []string{"turn", "reply", "cores", "cycle"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := sound
			tt.change(&g)
			v := g.Judge()
			if v.OK != (len(tt.why) == 0) || v.OK != (v.Why == "") {
				t.Fatalf("verdict %+v, want reasons %q", v, tt.why)
			}
			if n := strings.Count(v.Why, "; "); !v.OK && n != len(tt.why)-1 {
				t.Errorf("%d reasons in %q, want %q", n+1, v.Why, tt.why)
			}
			for _, word := range tt.why {
				if !strings.Contains(v.Why, word) {
					t.Errorf("%q does not say %q", v.Why, word)
				}
			}
		})
	}
}

func TestLawGap(t *testing.T) {
	g := Generation{Users: 10, Measured: 10 * time.Second, Busy: 30 * time.Second, Rest: 60 * time.Second}
	if gap := g.LawGap(); math.Abs(gap-0.1) > 1e-12 {
		t.Errorf("90 of 100 s are accounted for: gap %v, want 0.1", gap)
	}
	if g.Measured = 0; g.LawGap() != 0 {
		t.Errorf("nothing measured: gap %v", g.LawGap())
	}
}
