package search

import (
	"fmt"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Invariant names what a run must keep.
type Invariant string

// The invariants.
const (
	Durable  Invariant = "durable"
	Exact    Invariant = "exact"
	Quorum   Invariant = "quorum"
	Copies   Invariant = "copies"
	Window   Invariant = "window"
	InFlight Invariant = "in-flight"
	Deadline Invariant = "deadline"
	Discard  Invariant = "discard"
	Order    Invariant = "order"
	Outcome  Invariant = "outcome"
	Turn     Invariant = "turn"
	Progress Invariant = "progress"
	Bounds   Invariant = "bounds"
	Books    Invariant = "books"
	Running  Invariant = "running"
)

// promises says what each invariant means, in the order in which the docs list them.
var promises = []struct {
	name    Invariant
	promise string
}{
	{Durable, "an acknowledged write that has not expired is held by every brick that its cookie names, that has lived on and in whose copy no bit has flipped; a read gives up only when it has asked all of them that it can, and the audit finds nothing lost but what all of them have failed"},
	{Exact, "a read that is ok, and a brick's answer to one, has exactly the bytes that were written"},
	{Quorum, "a write is ok when WQ bricks have said so in time, and its cookie names these"},
	{Copies, "a write sends W copies to W bricks or none; a read asks only bricks that its cookie names; nobody asks a brick that is known to be gone"},
	{Window, "a request is sent only while the window has room for it; a window below 1 has room for one, and the fraction of one of paced for one more at times"},
	{InFlight, "what a stub counts as in flight is what it has sent and what is neither answered nor timed out nor cut off"},
	{Deadline, "nothing is served or asked for when its time-out has passed, unless the queue rule is to keep everything"},
	{Discard, "nothing that somebody waits for is dropped without a reply"},
	{Order, "a brick serves one operation at a time, in the order of arrival unless its queue rule says otherwise"},
	{Outcome, "every attempt ends in exactly one outcome, within its time-out, and in one that what happened allows"},
	{Turn, "a user has one attempt at a time, reads what it wrote, and after a rejection comes back with the same request"},
	{Progress, "when the faults are over and the load is light every user has answers again"},
	{Bounds, "inboxes and memory stay within their bounds, and states leave when their time is over and not before"},
	{Books, "what a brick has counted is what has happened: arrived = served + discarded + refused + dropped + waiting; and so is what a row counts"},
	{Running, "the code neither panics nor stands still in time"},
}

// Promise says what the invariant means, in a line; empty for one that does not exist.
func (i Invariant) Promise() string {
	for _, p := range promises {
		if p.name == i {
			return p.promise
		}
	}
	return ""
}

// Violation is an invariant that did not hold.
type Violation struct {
	Invariant Invariant
	At        time.Duration // virtual, since the start of the level
	Text      string        // what happened
	Trace     []string      // the events that led to it, the last of them last
	machine   int           // whom it concerns; -1 is nobody
	brick     session.BrickID
}

// stop ends a run at a violation: it is thrown through the engine.
type stop struct{ Violation }

// failf ends the run. A machine of -1 and a brick of 0 are none.
func (k *checker) failf(i Invariant, machine int, brick session.BrickID, format string, args ...any) {
	panic(stop{Violation{
		Invariant: i, At: k.now - k.epoch, Text: fmt.Sprintf(format, args...), machine: machine, brick: brick,
	}})
}
