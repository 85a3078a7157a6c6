package sim

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
)

// rows simulates a plan.
func rows(t *testing.T, cfg *Config) []result.Row {
	t.Helper()
	var all []result.Row
	err := Run(context.Background(), cfg, func(l result.Level) error {
		all = append(all, l.Row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// within checks a figure against bounds.
func within(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %.1f, want %.1f to %.1f", what, got, low, high)
	}
}

// marksOf computes the marks of the only curve in rows.
func marksOf(t *testing.T, rows []result.Row) result.Marks {
	t.Helper()
	marks := result.ComputeMarks(rows)
	if len(marks) != 1 || marks[0].Half == nil {
		t.Fatalf("marks %+v, want those of one curve that falls", marks)
	}
	return marks[0]
}

// at returns the row of so many machines.
func at(t *testing.T, rows []result.Row, machines int) *result.Row {
	t.Helper()
	i := slices.IndexFunc(rows, func(r result.Row) bool { return r.Machines == machines })
	if i < 0 {
		t.Fatalf("no row of %d machines", machines)
	}
	return &rows[i]
}

// The published marks of Figure 8: the unprotected store.
func TestMarksOff(t *testing.T) {
	all := rows(t, testConfig(t, []int{4, 7, 8, 9, 12, 13, 14}, "off"))
	m := marksOf(t, all)
	within(t, "goodput/s at 4", at(t, all, 4).Goodput(), 1475*0.95, 1475*1.05)
	within(t, "peak/s", m.Peak, 1900*0.97, 1900*1.03)
	if m.Zero == nil {
		t.Fatal("it does not reach zero")
	}
	within(t, "zero at", float64(*m.Zero), 13, 14)
	within(t, "failed/s at 14", at(t, all, 14).Failed(), 1570*0.92, 1570*1.08)
}

// Where goodput is down to half depends on when, at 12 machines, the collapse comes that comes
// in the end: in most levels of 10 s it has hardly begun.
func TestHalfOff(t *testing.T) {
	var halves []float64
	for seed := range uint64(5) {
		cfg := testConfig(t, []int{9, 11, 12, 13}, "off")
		cfg.Plan.Seed = seed + 1
		halves = append(halves, *marksOf(t, rows(t, cfg)).Half)
	}
	slices.Sort(halves)
	within(t, "earliest half", halves[0], 11, 13)
	within(t, "median half", halves[len(halves)/2], 12, 13)
}

// The published marks of Figure 9: the same store with a window and the discard.
func TestMarksOn(t *testing.T) {
	all := rows(t, testConfig(t, []int{8, 9, 14, 24, 27, 37}, "on"))
	m := marksOf(t, all)
	within(t, "peak/s", m.Peak, 1900*0.97, 1900*1.03)
	within(t, "goodput/s at 14", at(t, all, 14).Goodput(), 1580*0.92, 1580*1.08)
	within(t, "half of the peak at", *m.Half, 24, 27)
	within(t, "goodput at 37, % of the peak", 100*at(t, all, 37).Goodput()/m.Peak, 0, 25)
	within(t, "rejected/s at 37", at(t, all, 37).Rates[2], 11_000, 14_000)
	for i := range all {
		r := &all[i]
		within(t, "copies per write", r.CopiesPerWrite, 3, 3)
		within(t, "acknowledged of them", r.AckedPerWrite, 2, 3)
		within(t, "fairness", r.Fairness, 0.9, 1)
		if r.Wrong+r.Lost > 0 || r.Weak() {
			t.Errorf("%d machines: wrong %d, lost %d, steady %v, generator %v", r.Machines, r.Wrong, r.Lost, r.Steady, r.GeneratorOK)
		}
	}
}

// An open loop offers its rate whatever becomes of it.
func TestRate(t *testing.T) {
	for _, tt := range []struct{ rate, low, high float64 }{
		{1000, 990, 1010},
		{3000, 0, 10}, // beyond what the bricks can serve all answers are late
	} {
		cfg := testConfig(t, []int{4}, "off")
		cfg.Plan.Rate = tt.rate
		r := simulateOne(t, cfg).Row
		within(t, "offered/s", r.Offered, 0.97*tt.rate, 1.03*tt.rate)
		within(t, "goodput/s", r.Goodput(), 0.97*tt.low, 1.03*tt.high)
		if !r.GeneratorOK.OK {
			t.Errorf("at %.0f/s the load side is not believed: %s", tt.rate, r.GeneratorOK.Why)
		}
	}
}

// What bytes cost, and what they weigh, is the same as if the bricks held them.
func TestSize(t *testing.T) {
	cfg := testConfig(t, []int{45}, "off")
	cfg.Profile.Processor.PerKiB = cfg.Profile.Processor.Put / 8
	cfg.Profile.Processor.Put, cfg.Profile.Processor.Get = 1, 1
	small := testConfig(t, []int{45}, "off")
	a, b := simulateOne(t, cfg).Row, simulateOne(t, small).Row
	within(t, "failed/s, by bytes against by operations", a.Failed(), 0.99*b.Failed(), 1.01*b.Failed())
	// 64 MiB hold 8065 writes of 8 KiB; the rest of what came in 15 s was dropped.
	if len(b.Notes) != 8 {
		t.Errorf("notes %q, want one of each brick's full inbox", b.Notes)
	}
}

func TestBrickSeeds(t *testing.T) {
	plan := testConfig(t, []int{4, 5}, "off", "on").Plan
	points := loadgen.Points(&plan)
	four, five := brickSeeds(points[0], 8), brickSeeds(points[2], 8)
	if !slices.Equal(four, brickSeeds(points[1], 8)) {
		t.Error("the settings of a level differ in their bricks' jitter")
	}
	all := slices.Concat(four, five)
	slices.Sort(all)
	if len(slices.Compact(all)) != 16 {
		t.Error("bricks of a plan share their jitter")
	}
}

func TestLevelErrors(t *testing.T) {
	cfg := testConfig(t, []int{1}, "on")
	for _, p := range []loadgen.Point{
		{Machines: 1, Protection: "half", Policy: "aimd"},
		{Machines: 1, Protection: "on", Policy: "none"},
	} {
		if _, err := Level(context.Background(), cfg, p); err == nil {
			t.Errorf("%+v was simulated", p)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Level(ctx, cfg, loadgen.Points(&cfg.Plan)[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// No protection in a plan is that of embedded bricks.
func TestProtectionUnset(t *testing.T) {
	cfg := testConfig(t, []int{1})
	cfg.Plan.Duration = time.Second
	if r := simulateOne(t, cfg).Row; r.Protection != "on" || r.Mode != result.Sim || r.Run != "test" || r.Users != 12 {
		t.Errorf("row %+v", r)
	}
}
