package sim

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

const ms = time.Millisecond

var none impairment

func TestCarry(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var l link
	n := Network{OneWay: ms}
	if at, ok := n.carry(epoch, &none, &l, 8192, rng); !ok || at != epoch+ms {
		t.Errorf("latency alone: %v, %v", at-epoch, ok)
	}

	n = Network{OneWay: ms, Jitter: 0.5}
	low, high := time.Hour, time.Duration(0)
	for range 1000 {
		at, _ := n.carry(epoch, &none, &l, 0, rng)
		low, high = min(low, at-epoch), max(high, at-epoch)
	}
	if low < ms/2 || low > 6*ms/10 || high > 3*ms/2 || high < 14*ms/10 {
		t.Errorf("jitter of a half: %v to %v", low, high)
	}

	n = Network{Loss: 0.3}
	lost := 0
	for range 10_000 {
		if _, ok := n.carry(epoch, &none, &l, 0, rng); !ok {
			lost++
		}
	}
	if lost < 2800 || lost > 3200 {
		t.Errorf("lost %d of 10000, want 30 %%", lost)
	}
}

// A link sends one message after the other, and is free again in between.
func TestCarryRate(t *testing.T) {
	n := Network{OneWay: ms, Rate: 1e6} // a byte is a microsecond
	var l link
	for _, tt := range []struct{ now, want time.Duration }{
		{0, 3 * ms},
		{0, 5 * ms},
		{1 * ms, 7 * ms},
		{50 * ms, 53 * ms},
	} {
		if at, ok := n.carry(epoch+tt.now, &none, &l, 2000, nil); !ok || at != epoch+tt.want {
			t.Errorf("2000 bytes at %v: arrive at %v, %v, want %v", tt.now, at-epoch, ok, tt.want)
		}
	}
}

// Each impairment of a brick's connection does what it says, and comes on top of what the
// network does to all.
func TestCarryImpaired(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := Network{OneWay: ms, Loss: 0.5}
	for _, tt := range []struct {
		name      string
		way       impairment
		low, high time.Duration // of what arrives
		share     float64       // that arrives
	}{
		{"nothing", impairment{}, ms, ms, 0.5},
		{"cut", impairment{cut: true}, 0, 0, 0},
		{"loss", impairment{loss: 0.5}, ms, ms, 0.25},
		{"delay", impairment{delays: []delay{{by: 5 * ms}}}, 6 * ms, 6 * ms, 0.5},
		{"jitter", impairment{delays: []delay{{by: 5 * ms, jitter: 0.4}}}, 4 * ms, 8 * ms, 0.5},
		{"two delays", impairment{delays: []delay{{by: 5 * ms}, {by: 2 * ms, jitter: 1}}}, 6 * ms, 10 * ms, 0.5},
	} {
		const tries = 10_000
		arrived := 0
		low, high := time.Hour, time.Duration(0)
		for range tries {
			if at, ok := n.carry(epoch, &tt.way, &link{}, 0, rng); ok {
				arrived++
				low, high = min(low, at-epoch), max(high, at-epoch)
			}
		}
		within(t, tt.name+": % that arrive", 100*float64(arrived)/tries, 100*tt.share-2, 100*tt.share+2)
		if arrived == 0 {
			continue
		}
		near := (tt.high-tt.low)/20 + 1
		if low < tt.low || low > tt.low+near || high > tt.high || high < tt.high-near {
			t.Errorf("%s: %v to %v, want %v to %v", tt.name, low, high, tt.low, tt.high)
		}
	}
}

// simulateOne simulates the only point of a plan.
func simulateOne(t *testing.T, cfg *Config) result.Level {
	t.Helper()
	level, err := Level(context.Background(), cfg, loadgen.Points(&cfg.Plan)[0])
	if err != nil {
		t.Fatal(err)
	}
	return level
}

// At light load what the network adds is what users see of it.
func TestLevelLatency(t *testing.T) {
	cfg := testConfig(t, []int{1}, "off")
	near := simulateOne(t, cfg).Row.Latency.P50
	cfg.Network = &Network{OneWay: 5300 * time.Microsecond} // 5 ms more, each way
	if far := simulateOne(t, cfg).Row.Latency.P50; far-near < 9900*time.Microsecond || far-near > 10100*time.Microsecond {
		t.Errorf("p50 %v near and %v far, want 10 ms between them", near, far)
	}
}

// A read is lost when one of its two messages is; a write is when fewer than two of
// three copies come back.
func TestLevelLoss(t *testing.T) {
	cfg := testConfig(t, []int{2}, "off")
	cfg.Network = &Network{OneWay: ms, Loss: 0.1}
	h := simulateOne(t, cfg).Histograms
	share := func(op session.Op) float64 {
		ok, late := h.Count(op, session.OK), h.Count(op, session.Timeout)
		return float64(late) / float64(ok+late)
	}
	const leg = 0.9 * 0.9
	want := [session.NumOps]float64{session.Write: 1 - leg*leg*leg - 3*leg*leg*(1-leg), session.Read: 1 - leg}
	for op := range session.Op(session.NumOps) {
		if got := share(op); got < 0.85*want[op] || got > 1.15*want[op] {
			t.Errorf("%s: %.3f timed out, want about %.3f", op, got, want[op])
		}
	}
}

// Links of 100 KB/s carry 12 states a second to each of 8 bricks: 32 writes of three
// copies a second, and as many reads.
func TestLevelBandwidth(t *testing.T) {
	cfg := testConfig(t, []int{2}, "on")
	cfg.Network = &Network{OneWay: ms, Rate: 100e3}
	cfg.Plan.Timeout = time.Second
	r := simulateOne(t, cfg).Row
	within(t, "goodput/s", r.Goodput(), 40, 66)
}

// A partitioned brick costs the writes that need it their time-out while it is cut off, and
// nothing before and after.
func TestLevelPartition(t *testing.T) {
	cfg := testConfig(t, []int{2}, "off")
	cfg.Plan.W = 2 // which must both acknowledge
	cfg.Network = &Network{OneWay: ms, Partitions: []Partition{{Brick: 3, From: 8 * time.Second, For: 4 * time.Second}}}
	l := simulateOne(t, cfg)
	for _, s := range l.Seconds {
		at := time.Duration(s.Second)*time.Second + cfg.Plan.Warmup
		failed := s.Count[session.Timeout]
		switch {
		case at < 8*time.Second || at > 12*time.Second: // the last time-outs end a moment later
			if failed > 0 {
				t.Errorf("second %d: %d time-outs without a partition", s.Second, failed)
			}
		case at < 12*time.Second && failed == 0:
			t.Errorf("second %d: no time-out in a partition", s.Second)
		}
	}
	if l.Row.Lost > 0 || l.Row.Wrong > 0 {
		t.Errorf("lost %d, wrong %d", l.Row.Lost, l.Row.Wrong)
	}
}
