package sim

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/result"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files simulates a plan into a run directory and returns what each of its files holds.
func files(t *testing.T, cfg *Config) map[string]string {
	t.Helper()
	d, err := result.Create(t.TempDir(), result.Manifest{Mode: result.Sim, Plan: cfg.Plan, Profile: cfg.Profile})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Run = d.Manifest().Run
	if err := Run(context.Background(), cfg, d.AppendLevel); err != nil {
		t.Fatal(err)
	}
	if err := d.Finish(result.Complete, ""); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(d.Path(), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

// The same plan and seed give the same bytes in every file on any number of cores;
// another seed gives another run.
func TestSameSeedSameBytes(t *testing.T) {
	faults, err := chaos.ParseAll([]string{
		"kill:brick-1@200ms+700ms", "kill:brick-2@500ms", "stall:brick-3@1s+200ms", "slow:brick-1,by=1ms@1s", "drop:brick-4,share=0.5@0s+1s",
		"partition:brick-1@100ms+300ms", "loss:brick-5,share=0.1@0s", "delay:brick-6,by=3ms,jitter=2ms@0s", "delay:brick-6,by=1ms@500ms+500ms",
		"surge:load,machines=2@500ms+1s",
	})
	if err != nil {
		t.Fatal(err)
	}
	config := func(seed uint64) *Config {
		cfg := testConfig(t, []int{3, 12, 26}, "off", "on", "discard")
		cfg.Plan.Policies = []string{"aimd", "paced"}
		cfg.Plan.Duration, cfg.Plan.Warmup, cfg.Plan.Seed = 2*time.Second, time.Second, seed
		cfg.Network = &Network{OneWay: ms, Jitter: 0.5, Loss: 0.001, Rate: 1e8}
		cfg.Faults = faults
		return cfg
	}
	cores := func(n int) {
		t.Cleanup(func(was int) func() { return func() { runtime.GOMAXPROCS(was) } }(runtime.GOMAXPROCS(n)))
	}
	cores(1)
	one := files(t, config(1))
	cores(2)
	two, other := files(t, config(1)), files(t, config(2))
	if len(one) != 7 {
		t.Errorf("%d files, want 7", len(one))
	}
	if !maps.Equal(one, two) {
		for name := range one {
			if one[name] != two[name] {
				t.Errorf("%s differs between one core and two", name)
			}
		}
	}
	for _, name := range []string{"levels.csv", "series.csv", "histograms.hlog"} {
		if one[name] == other[name] {
			t.Errorf("%s is the same for another seed", name)
		}
	}
}

func TestRunOrder(t *testing.T) {
	cfg := testConfig(t, []int{1, 2, 3, 4, 5, 6}, "off", "on")
	cfg.Plan.Duration, cfg.Plan.Warmup = time.Second, 0
	n := 0
	err := Run(context.Background(), cfg, func(l result.Level) error {
		if want := n/2 + 1; l.Row.Machines != want || l.Seconds[0].Level != n {
			t.Errorf("level %d has %d machines, want %d; its seconds are of level %d", n, l.Row.Machines, want, l.Seconds[0].Level)
		}
		n++
		return nil
	})
	if err != nil || n != 12 {
		t.Errorf("%d levels, error %v", n, err)
	}
}

func TestRunEnds(t *testing.T) {
	cfg := testConfig(t, []int{1, 2, 3, 4, 5, 6, 7, 8}, "off", "on")
	cfg.Plan.Duration = time.Second
	full := errors.New("disk full")
	ctx, cancel := context.WithCancel(context.Background())
	for _, tt := range []struct {
		name string
		sink func() error
		want error
	}{
		{"an error of the sink", func() error { return full }, full},
		{"the end of the context", func() error { cancel(); return nil }, context.Canceled},
	} {
		n := 0
		err := Run(ctx, cfg, func(result.Level) error { n++; return tt.sink() })
		if !errors.Is(err, tt.want) || n == 0 || n == 16 {
			t.Errorf("%s: error %v after %d levels", tt.name, err, n)
		}
	}
	cfg.Plan.Policies = []string{"none"}
	if err := Run(context.Background(), cfg, func(result.Level) error { return nil }); err == nil {
		t.Error("an unknown policy was simulated")
	}
}
