package loadgen

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/chaos"
)

// Guests are machines that load a level for a part of it only, as those of a surge do.
// They are numbered after the level's own. What they do counts like everything else, save that
// a row's machines, its users and its fairness are those of the level alone.
type Guests struct {
	First    int           `json:"first"`
	Machines int           `json:"machines"`
	Begin    time.Duration `json:"begin"` // since the start of the level, before its warm-up
	End      time.Duration `json:"end"`   // likewise
}

// GuestsOf returns those that the surges among the faults bring to a level with so many
// machines of its own.
func GuestsOf(faults []chaos.Fault, own int, warmup, duration time.Duration) []Guests {
	var all []Guests
	first := own
	for _, f := range faults {
		if f.Kind != chaos.Surge {
			continue
		}
		all = append(all, Guests{First: first, Machines: f.Machines, Begin: warmup + f.At, End: warmup + f.Ends(duration)})
		first += f.Machines
	}
	return all
}

// Present returns how long all their users together are there within the time from
// "from" to "till", both since the start of the level, if each machine's users begin
// one by one within join.
func (g *Guests) Present(threads int, join, from, till time.Duration) time.Duration {
	each := g.presentBy(min(till, g.End), join) - g.presentBy(min(from, g.End), join)
	return time.Duration(g.Machines*threads) * max(0, each)
}

// presentBy is the mean time that a user has been there by an instant: the integral of
// the share of users that have begun.
func (g *Guests) presentBy(at, join time.Duration) time.Duration {
	since := at - g.Begin
	switch {
	case since <= 0:
		return 0
	case since < join:
		return time.Duration(since.Seconds() * since.Seconds() / (2 * join.Seconds()) * float64(time.Second))
	default:
		return since - join/2
	}
}
