package protect

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Window is one stub's window for one brick, as a policy sizes it. The stub
// counts what is in flight; the window only says how much may be.
type Window interface {
	// Admit reports whether one more operation may go out while so many are in flight.
	Admit(now time.Duration, inFlight int) bool
	// Ack tells of an answer within the time-out and of its round-trip time.
	Ack(now, rtt time.Duration)
	// Timeout tells of an operation that was not answered within its time-out, or that the
	// brick refused for being overloaded, and of how many were in flight with it.
	Timeout(now time.Duration, inFlight int)
	// Share tells of the operations in flight that the brick offers each of its stubs, as
	// every answer and heartbeat does.
	Share(ops float64)
	// Size returns the window, in operations; positive infinity is no bound.
	Size() float64
}

// Policy names a rule and makes its windows.
type Policy struct {
	Name string
	// Summary is one line for help texts: the rule in words.
	Summary string
	// New returns the window of a stub that has just met a brick. The time-out is
	// the one that operations will carry. The seed is for rules that draw lots: the stub's
	// own, the same for all its bricks.
	New func(timeout time.Duration, seed uint64) Window
}

// DefaultPolicy is SSM's own.
const DefaultPolicy = "aimd"

var policies = []Policy{
	{
		Name:    "aimd",
		Summary: "SSM's rule: +1 per window of answers, half on a time-out, never below 1",
		New:     func(time.Duration, uint64) Window { return newAIMD() },
	},
	{
		Name:    "aimd-2004",
		Summary: "the constants of SSM's own code: starts at 250, +1 per answer, to 5/8 of what is in flight",
		New:     newAIMD2004,
	},
	{
		Name:    "paced",
		Summary: "the share that the brick announces by its delay; below 1 stubs take turns",
		New:     newPaced,
	},
	{
		Name:    "off",
		Summary: "no bound: nothing is rejected, for comparison",
		New:     newOpen,
	},
}

// Policies returns every policy, the default first.
func Policies() []Policy { return slices.Clone(policies) }

// PolicyByName finds a policy. The error lists the names that exist.
func PolicyByName(name string) (Policy, error) {
	names := make([]string, len(policies))
	for i, p := range policies {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	return Policy{}, fmt.Errorf("%q is not a policy: choose %s", name, strings.Join(names, ", "))
}
