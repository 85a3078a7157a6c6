package loadgen

import (
	"cmp"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/result"
)

// FaultEvents says when the faults of a level begin and end, in order of time. Of the
// same instant, ends come first. What is over at once has a begin alone.
func FaultEvents(level int, faults []chaos.Fault, duration time.Duration) []result.Event {
	var begins, ends []result.Event
	for _, f := range faults {
		e := result.Event{Level: level, Second: f.At.Seconds(), Kind: "fault", Who: f.Target(), What: f.String()}
		begins = append(begins, e)
		if f.Ends(duration) == f.At {
			continue
		}
		e.Second, e.Kind = f.Ends(duration).Seconds(), "fault-over"
		ends = append(ends, e)
	}
	events := slices.Concat(ends, begins)
	slices.SortStableFunc(events, func(a, b result.Event) int { return cmp.Compare(a.Second, b.Second) })
	return events
}
