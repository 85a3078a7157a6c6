package session

import "fmt"

// Outcome is how an attempt ended. Each attempt ends in exactly one.
type Outcome uint8

// The outcomes. Only OK counts as goodput; the others are failures.
const (
	OK       Outcome = iota // answered, correct and in time
	Timeout                 // no sufficient answer within the time-out
	Rejected                // the stub's immediate no: too few windows had room
	Refused                 // an explicit no of the bricks: memory full, state not found
	Error                   // no connection to enough bricks, or it broke
	Wrong                   // a reply that failed verification
	NumOutcomes
)

var outcomeNames = [NumOutcomes]string{"ok", "timeout", "rejected", "refused", "error", "wrong"}

// String returns the outcome's name as used in every file and flag.
func (o Outcome) String() string {
	if o < NumOutcomes {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}
