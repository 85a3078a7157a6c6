package search

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// A case is shrunk to what its violation needs, every time to the same, and in a bounded
// number of runs. Here it needs a death of brick 2, three users on a machine and a copy to spare.
func TestShrink(t *testing.T) {
	drawn := Draw(1)
	drawn.Bricks, drawn.W, drawn.WQ, drawn.R, drawn.Machines, drawn.Threads = 6, 4, 3, 2, 12, 8
	drawn.Faults = []string{"slow:brick-1,by=5ms@100ms+900ms", "kill:brick-2@400ms+800ms", "stall:brick-6@500ms+100ms"}
	drawn.Changes = []Change{{1000, "off"}}
	runs := 0
	needs := func(_ context.Context, c *Case) (*Violation, uint64, error) {
		runs++
		if _, err := c.config(); err != nil {
			return nil, 0, err
		}
		kill := slices.ContainsFunc(c.Faults, func(f string) bool { return strings.HasPrefix(f, "kill:brick-2@") })
		if kill && c.Threads >= 3 && c.W > c.WQ {
			return &Violation{Invariant: Durable}, 0, nil
		}
		return &Violation{Invariant: Exact}, 0, nil // another one is no success
	}
	got, v := shrink(t.Context(), &drawn, &Violation{Invariant: Durable}, needs)
	if runs > shrinkRuns || v.Invariant != Durable {
		t.Errorf("%d runs, %s, want at most %d and the same invariant", runs, v.Invariant, shrinkRuns)
	}
	want := clone(&got)
	want.Machines, want.Threads, want.Bricks, want.W, want.WQ, want.R = 1, 3, 2, 2, 1, 1
	want.Faults, want.Changes, want.Protection = []string{"kill:brick-2@400ms+1ms"}, want.Changes[:0], "off"
	if fileOf(t, &got) != fileOf(t, &want) {
		t.Errorf("shrunk to\n%s\nwant\n%s", fileOf(t, &got), fileOf(t, &want))
	}
	if again, _ := shrink(t.Context(), &drawn, &Violation{Invariant: Durable}, needs); fileOf(t, &again) != fileOf(t, &got) {
		t.Errorf("shrunk to %s, then to %s", &got, &again)
	}
	if len(drawn.Faults) != 3 || drawn.Faults[1] != "kill:brick-2@400ms+800ms" {
		t.Errorf("the drawn case was changed: %v", drawn.Faults)
	}
}

// Shrinking ends with the context, and keeps what it has.
func TestShrinkInterrupted(t *testing.T) {
	drawn := Draw(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, v := shrink(ctx, &drawn, &Violation{Invariant: Durable}, func(context.Context, *Case) (*Violation, uint64, error) {
		t.Error("it was run")
		return nil, 0, nil
	})
	if fileOf(t, &got) != fileOf(t, &drawn) || v.Invariant != Durable {
		t.Errorf("shrunk to %s", &got)
	}
}
