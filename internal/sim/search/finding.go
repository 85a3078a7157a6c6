package search

import (
	"fmt"
	"strings"
	"time"
)

// String tells what was found: the seed, the invariant, what is left of the case, and the
// events that led to the violation.
func (f *Finding) String() string {
	v, c := &f.Violation, &f.Case
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d breaks %s: %s\n", c.Seed, v.Invariant, v.Invariant.Promise())
	fmt.Fprintf(&b, "  at %v: %s\n", v.At, v.Text)
	fmt.Fprintf(&b, "  shortest case: %s\n", c)
	schedule := c.Faults
	for _, change := range c.Changes {
		schedule = append(schedule, fmt.Sprintf("protection %s@%v", change.Protection, time.Duration(change.At)))
	}
	if len(schedule) == 0 {
		schedule = []string{"nothing"}
	}
	fmt.Fprintf(&b, "  schedule: %s\n", strings.Join(schedule, ", "))
	b.WriteString("  the events that led to it:\n")
	for _, line := range v.Trace {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String returns the case in a line, without its schedule.
func (c *Case) String() string {
	return fmt.Sprintf("%s, %s of %s, W=%d WQ=%d R=%d, time-out %v, protection %s, policy %s, %v after a warm-up of %v",
		plural(c.Bricks, "brick"), plural(c.Machines, "machine"), plural(c.Threads, "user"), c.W, c.WQ, c.R, time.Duration(c.Timeout), c.Protection, c.Policy, time.Duration(c.Duration), time.Duration(c.Warmup))
}

func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
