package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Scenario is a measurement with its faults under a name. What it says of the plan is a
// default: flags that are given overrule it. Zero is what the plan has without it.
type Scenario struct {
	Name       string
	Summary    string        // one line, for help texts
	Machines   string        // LEVELS
	Threads    int           // users on each machine
	Bricks     int           // of the cluster
	R          int           // bricks that a read asks
	Timeout    time.Duration // of every operation
	Size       int           // of a state, in bytes
	Duration   time.Duration // of a level, after the warm-up
	Protection string        // LIST
	Watch      bool          // the bricks are watched, and restarted when they are at fault; in a simulation
	Faults     []Fault
}

// The published fault experiments of SSM (Ling, Kiciman and Fox, NSDI 2004): their bricks, threads,
// time-outs, sizes and instants. What was not published, and the machines with it, is chosen:
// three machines of ten threads are about 70 % of what six bricks can serve, one is about half of what
// the three serve that are left of four.
var scenarios = []Scenario{
	{
		Name:     "surge",
		Summary:  "6 machines; after 10s 34 more for 10s, 40 in all; then 6 again for 20s",
		Machines: "6", Duration: 40 * time.Second, Protection: "off,on",
		Faults: []Fault{{Kind: Surge, Machines: 34, At: 10 * time.Second, For: 10 * time.Second}},
	},
	{
		Name:     "brick-crash",
		Summary:  "a brick of 4 dies at 30s and is back, empty, at 40s; reads ask 2",
		Machines: "1", Threads: 10, Bricks: 4, R: 2, Duration: 60 * time.Second, Protection: "on",
		Faults: []Fault{{Kind: Kill, Brick: 2, At: 30 * time.Second, For: 10 * time.Second}},
	},
	{
		Name:     "bit-flip-stack",
		Summary:  "a brick of 6 crashes on a flipped bit at 14s and is back at 23s",
		Machines: "3", Threads: 10, Bricks: 6, Duration: 40 * time.Second, Protection: "on",
		Faults: []Fault{{Kind: FlipCrash, Brick: 2, At: 14 * time.Second, For: 9 * time.Second}},
	},
	{
		Name:     "bit-flip-data",
		Summary:  "a bit flips in each of 1000 states of a brick of 6 at 18s",
		Machines: "3", Threads: 10, Bricks: 6, Duration: 25 * time.Second, Protection: "on",
		Faults: []Fault{{Kind: Flip, Brick: 2, Bits: 1000, At: 18 * time.Second}},
	},
	{
		Name:     "lossy-brick",
		Summary:  "a brick of 6 loses 70 % of its replies from 35s, is killed at 45s and back at 70s",
		Machines: "3", Threads: 10, Bricks: 6, Timeout: 700 * time.Millisecond, Size: 3 << 10,
		Duration: 90 * time.Second, Protection: "on",
		Faults: []Fault{
			{Kind: Drop, Brick: 2, Share: 0.7, At: 35 * time.Second, For: 10 * time.Second},
			{Kind: Kill, Brick: 2, At: 45 * time.Second, For: 25 * time.Second},
		},
	},
	{
		Name:     "slow-brick",
		Summary:  "every message costs a brick of 6 a millisecond more from 30s on, until it is found",
		Machines: "3", Threads: 10, Bricks: 6, Duration: 60 * time.Second, Protection: "on", Watch: true,
		Faults: []Fault{{Kind: Slow, Brick: 2, By: time.Millisecond, At: 30 * time.Second}},
	},
}

// Scenarios returns all scenarios, in the order in which help texts name them.
func Scenarios() []Scenario { return slices.Clone(scenarios) }

// ScenarioByName finds a scenario. The error names those there are.
func ScenarioByName(name string) (Scenario, error) {
	var names []string
	for _, s := range scenarios {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("%q is not a scenario: choose %s", name, strings.Join(names, ", "))
}

// Scaled returns the scenario with its faults' begins and lengths, and the length of its levels,
// so many times as long: to the millisecond, and levels to the next whole second. What a
// fault does to a message and how long a user waits stay as they are.
func (s Scenario) Scaled(scale float64) Scenario {
	longer := func(d time.Duration) time.Duration {
		return time.Duration(math.Round(scale*d.Seconds()*1000)) * time.Millisecond
	}
	s.Duration = (longer(s.Duration) + time.Second - 1).Truncate(time.Second)
	s.Faults = slices.Clone(s.Faults)
	for i := range s.Faults {
		f := &s.Faults[i]
		f.At = longer(f.At)
		if f.For > 0 {
			f.For = max(time.Millisecond, longer(f.For))
		}
	}
	return s
}
