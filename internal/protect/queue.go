package protect

import "time"

// Rule is the brick's half of the protection: how it takes requests out of its inbox.
type Rule uint8

// The rules. The zero rule is Keep.
const (
	Keep    Rule = iota // oldest first, and everything is served
	Discard             // oldest first, and what is dead on its turn is dropped (SSM, NSDI 2004)
	CoDel               // newest first while overloaded, and what has waited long is refused
)

// Pick says which request a brick takes next.
type Pick uint8

// The picks. Oldest goes by arrival, Newest by the instant at which the stub began.
const (
	Oldest Pick = iota
	Newest
)

// Verdict says what becomes of the request that was taken.
type Verdict uint8

// The verdicts.
const (
	Serve  Verdict = iota
	Drop           // without a reply, for nobody waits for it
	Refuse         // with a reply that says no
)

// Discipline is a rule at work in one brick. All waits count from the arrival at the
// brick, so no clock is compared.
type Discipline interface {
	// Pick is asked before every decision, with how long the oldest request has waited; now
	// never goes backwards.
	Pick(now, oldest time.Duration) Pick
	// Judge is asked of the request that was picked: how long it has waited, and how long
	// its stub waits in all.
	Judge(waited, timeout time.Duration) Verdict
}

// New returns the rule as it starts in a brick.
func (r Rule) New() Discipline {
	switch r {
	case Discard:
		return discard{}
	case CoDel:
		return new(codel)
	default:
		return keep{}
	}
}

type keep struct{}

func (keep) Pick(_, _ time.Duration) Pick { return Oldest }

func (keep) Judge(_, _ time.Duration) Verdict { return Serve }

type discard struct{}

func (discard) Pick(_, _ time.Duration) Pick { return Oldest }

func (discard) Judge(waited, timeout time.Duration) Verdict {
	if waited > timeout {
		return Drop
	}
	return Serve
}
