package search

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/chaos"
)

// shrinkRuns bounds the runs that shrinking a case may take.
const shrinkRuns = 300

// Shrink looks for a simpler case that breaks the same invariant: fewer faults, users,
// bricks and seconds, and plainer parameters. It tries the same steps in the same order, again as long as one
// helps, so it finds the same case every time. If ctx ends it returns what it has.
func Shrink(ctx context.Context, c *Case, v *Violation) (Case, *Violation) {
	return shrink(ctx, c, v, Run)
}

// runner is Run, or in its tests something simpler.
type runner func(context.Context, *Case) (*Violation, uint64, error)

func shrink(ctx context.Context, c *Case, v *Violation, run runner) (Case, *Violation) {
	best, found := clone(c), v
	for runs, better := 0, true; better; {
		better = false
		for step := 0; ; {
			next, ok := simpler(&best, step)
			if !ok {
				break
			}
			runs++
			if runs > shrinkRuns || ctx.Err() != nil {
				return best, found
			}
			got, _, err := run(ctx, &next)
			if err != nil || got == nil || got.Invariant != v.Invariant {
				step++
				continue
			}
			// The same step once more: after a removal it means the next thing.
			best, found, better = next, got, true
		}
	}
	return best, found
}

func clone(c *Case) Case {
	n := *c
	n.Faults, n.Changes = slices.Clone(c.Faults), slices.Clone(c.Changes)
	return n
}

// simpler returns the case after the step of that number; false when there are no more
// steps. A step that changes nothing is left out of the count.
func simpler(c *Case, step int) (Case, bool) {
	for i := 0; ; i++ {
		n := clone(c)
		if !apply(&n, i) {
			return n, false
		}
		if reflect.DeepEqual(*c, n) {
			continue
		}
		if step == 0 {
			return n, true
		}
		step--
	}
}

// apply changes a case by the step of that number; false when there is no such step.
func apply(c *Case, step int) bool {
	if n := len(c.Faults); step < n {
		c.Faults = slices.Delete(c.Faults, step, step+1)
		return true
	} else if step -= n; step < n {
		c.Faults[step] = shorter(c.Faults[step])
		return true
	} else if step -= n; step < len(c.Changes) {
		c.Changes = slices.Delete(c.Changes, step, step+1)
		return true
	}
	step -= len(c.Changes)
	if step >= len(plainer) {
		return false
	}
	plainer[step](c)
	return true
}

// shorter halves a fault's length, or what it strikes if it has none.
func shorter(spec string) string {
	f, err := chaos.Parse(spec)
	if err != nil {
		return spec
	}
	if f.Kind == chaos.Flip {
		f.Bits /= 2
		return f.String()
	}
	f.For = max(time.Millisecond, (f.For / 2).Truncate(time.Millisecond))
	return f.String()
}

// plainer are the steps that change no list. None of them may undo another.
var plainer = []func(c *Case){
	func(c *Case) { c.Machines = half(c.Machines) },
	func(c *Case) { c.Threads = half(c.Threads) },
	func(c *Case) {
		c.Duration = Span(max(time.Second, (time.Duration(c.Duration) / 2).Truncate(time.Second)))
	},
	func(c *Case) { c.Duration = max(Span(time.Second), c.Duration-Span(time.Second)) },
	func(c *Case) { c.Warmup = 0 },
	func(c *Case) { c.Machines = max(1, c.Machines-1) },
	func(c *Case) { c.Threads = max(1, c.Threads-1) },
	func(c *Case) { c.Loss = 0 },
	func(c *Case) { c.NetworkJitter = 0 },
	func(c *Case) { c.LinkRate = 0 },
	func(c *Case) { c.CostJitter = 0 },
	func(c *Case) { c.Memory = 0 },
	func(c *Case) { c.Inbox = 0 },
	func(c *Case) { c.Rate = 0 },
	func(c *Case) { c.R = 1 },
	func(c *Case) { c.WQ = max(c.R, c.WQ-1) },
	func(c *Case) { c.W = max(c.WQ, c.W-1) },
	func(c *Case) { c.Bricks = max(c.W, c.struck(), c.Bricks-1) },
	func(c *Case) { c.Policy = "aimd" },
	func(c *Case) { c.Protection = "off" },
	func(c *Case) { c.Size = 16 },
}

func half(n int) int { return max(1, n/2) }

// struck is the highest number of a brick that a fault strikes.
func (c *Case) struck() int {
	highest := 0
	for _, f := range c.faults() {
		highest = max(highest, int(f.Brick))
	}
	return highest
}
