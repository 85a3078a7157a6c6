package sim

import (
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
)

// warmed returns a level of a day that has run long enough to hold as much as it ever will.
func warmed(t *testing.T, machines int, protection string, after time.Duration) *engine {
	t.Helper()
	cfg := testConfig(t, []int{machines}, protection)
	cfg.Plan.Duration = 24 * time.Hour
	l, err := newLevel(nil, cfg, loadgen.Points(&cfg.Plan)[0])
	if err != nil {
		t.Fatal(err)
	}
	l.engine.run(epoch + after)
	return l.engine
}

// An event allocates nothing. What allocates is a brick's table for the states that
// expire in one second, and the recorder's interval: a few times a virtual second, whatever the load.
func TestSteadyStateAllocations(t *testing.T) {
	for _, tt := range []struct {
		machines   int
		protection string
	}{{4, "on"}, {24, "off"}, {45, "on"}} {
		e := warmed(t, tt.machines, tt.protection, 15*time.Second)
		const perBrick, perRecorder = 20, 4
		before := e.handled
		allocs := testing.AllocsPerRun(3, func() { e.run(e.now + time.Second) })
		events := float64(e.handled-before) / 4
		if most := float64(perBrick*len(e.bricks) + perRecorder); allocs > most {
			t.Errorf("%d machines, protection %s: %.0f allocations in a virtual second of %.0f events, want at most %.0f",
				tt.machines, tt.protection, allocs, events, most)
		}
	}
}

// What a level holds does not grow with its length.
func TestSteadyStateMemory(t *testing.T) {
	e := warmed(t, 45, "off", 15*time.Second)
	pages, nodes, far := len(e.messages.pages), len(e.events.nodes), cap(e.events.far.items)
	e.run(e.now + 20*time.Second)
	if len(e.messages.pages) > pages+1 || len(e.events.nodes) > 2*nodes || cap(e.events.far.items) > 2*far {
		t.Errorf("it grew: pages of messages from %d to %d, nodes of events from %d to %d, far ones from %d to %d",
			pages, len(e.messages.pages), nodes, len(e.events.nodes), far, cap(e.events.far.items))
	}
}
